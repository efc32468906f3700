"""What drives a fit: rounds, early stopping, callbacks, progress.

The work of forests and bagging is in :mod:`weald.fitting.independent`, that of AdaBoost in
:mod:`weald.adaboost.rounds`, that of gradient boosting and stagewise models in
:mod:`weald.boosting.rounds`. A Ctrl-C during a fit reaches :func:`weald.fitting.driver.drive`.
"""
