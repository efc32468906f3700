"""What drives a fit: rounds, early stopping, callbacks, progress.

Forests and bagging bring their work from here (:mod:`weald.fitting.independent`), AdaBoost from
:mod:`weald.adaboost.rounds`, gradient boosting and stagewise models from
:mod:`weald.boosting.rounds`. A Ctrl-C during a fit reaches :func:`weald.fitting.driver.drive`.
"""
