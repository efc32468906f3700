"""Forward stagewise additive modelling: any loss, any family of members, one step at a time.

A model ``F = init + nu_1 h_1 + nu_2 h_2 + ...`` grows by one member in every round. What is there
stays as it is, and the new member and its step are to lower the loss as far as one step can::

    (nu, h) = argmin sum_i w_i L(y_i, F(x_i) + nu h(x_i))

The member is the one that points most nearly where the loss falls: it is fitted to the negative
gradient ``r_i = -dL/dF``. Then the best step along it is taken. Well-known methods come out of it:

===================  ==========================  ==================================================
loss                 members                     is
===================  ==========================  ==================================================
exponential          classifiers (-1 or 1)       AdaBoost: the weights are ``w_i |r_i|``, the step
                                                 is ``1/2 ln((1 - e) / e)``
squared error        regressors                  L2 boosting, or matching pursuit on residuals: the
                                                 step is ``sum w h r / sum w h²``
log_loss             regressors or classifiers   logistic boosting with a line search
absolute, quantile   regressors or classifiers   robust boosting; the step is a weighted quantile
===================  ==========================  ==================================================
"""

from weald.stagewise.classifier import StagewiseClassifier
from weald.stagewise.regressor import StagewiseRegressor

__all__ = ["StagewiseClassifier", "StagewiseRegressor"]
