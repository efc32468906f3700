"""Gradient boosting: trees added one after another, each along the negative gradient of a loss.

A model is a sum of trees, ``F = init + h_1 + h_2 + ...``. Every round looks at the derivatives
``g = dl/dF`` and ``h = d2l/dF2`` of the loss at each row, grows a tree that points where the loss
falls, gives each of its leaves a step, and adds the tree to the scores (Friedman 2001). Of second
order, trees and leaves minimise the parabola that touches the loss (Chen & Guestrin 2016)::

    leaf = -G / (H + l2),   gain = 1/2 [G_L²/(H_L + l2) + G_R²/(H_R + l2) - G²/(H + l2)] - min_gain

with G and H the sums of ``w g`` and ``w h``. Of first order, trees fit ``-g`` by least squares.

==============  =====================  ==========  ================================================
loss            for                    step        prediction
==============  =====================  ==========  ================================================
squared_error   numbers                newton      mean
absolute_error  numbers                exact       median
huber           numbers                exact       mean without the pull of outliers
quantile        numbers                exact       quantiles `alpha`, one or several
log_cosh        numbers                exact       between mean and median
poisson         counts                 newton      mean, exp(F)
gamma           positive amounts       newton      mean, exp(F)
tweedie         amounts, often 0       newton      mean, exp(F)
log_loss        any number of classes  newton      probabilities
exponential     two classes            newton      probabilities, 1 / (1 + exp(-2F))
smooth_hinge    two classes            exact       labels; probabilities inside the margin
focal           two classes            newton      labels; scores are closer to 0 than log odds
your own        its ``kind``           by hessian  by its ``link``
==============  =====================  ==========  ================================================
"""

from weald.boosting.classifier import GradientBoostingClassifier
from weald.boosting.regressor import GradientBoostingRegressor

__all__ = ["GradientBoostingClassifier", "GradientBoostingRegressor"]
