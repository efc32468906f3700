"""Kernel smoothing: the prediction at a point is a mean of the targets of the rows around it.

Near rows count more than far ones. How fast their influence falls is up to the kernel ``K`` and its
bandwidth ``h``; with the weights ``w`` of the rows, the estimate of Nadaraya and Watson is::

    m(x) = sum_i w_i K_h(x, x_i) y_i / sum_i w_i K_h(x, x_i)

A large bandwidth averages over everything (low variance, high bias), a small one repeats the
nearest row. Leaving out one row after the other, and predicting it from the rest, tells which
bandwidth is best. Nothing is fitted beyond that: the rows are the model.
"""

from weald.kernel.classifier import KernelClassifier
from weald.kernel.regressor import KernelRegressor

__all__ = ["KernelClassifier", "KernelRegressor"]
