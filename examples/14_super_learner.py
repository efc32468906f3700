"""The super learner: weights from cross-validated risks.

Seven candidates, from a line to boosted trees, and no need to know which is right. Each predicts
rows that it has not seen, by cross-validation. Left: these risks (with twice their standard
errors) against the errors on 5,000 new rows: they rank the candidates alike, which training
errors would not do.

Right: the weights, not negative and with sum 1, that minimise the cross-validated risk of the
mixture. Candidates that err in different ways share the weight. The mixture is better than the
best of them on new rows, which is what the theory promises for many rows: it does as well as the
best mixture that one could choose with the new rows in hand.

Wolpert (1992), Stacked generalization, Neural Networks 5; Breiman (1996), Stacked regressions;
van der Laan, Polley and Hubbard (2007), Super learner.
"""

import numpy as np
from figures import BLACK, BLUE, GREY, ORANGE, Example, panels, save
from sklearn.base import clone
from sklearn.datasets import make_friedman1
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler
from sklearn.svm import SVR

from weald import (
    DecisionTreeRegressor,
    GradientBoostingRegressor,
    RandomForestRegressor,
    SuperLearnerRegressor,
)

CANDIDATES = [
    ("line", LinearRegression()),
    ("quadratic", make_pipeline(PolynomialFeatures(2), LinearRegression())),
    ("neighbours", make_pipeline(StandardScaler(), KNeighborsRegressor(10))),
    ("support vectors", make_pipeline(StandardScaler(), SVR(C=10.0))),
    ("tree", DecisionTreeRegressor(random_state=0)),
    ("forest", RandomForestRegressor(random_state=0)),
    ("boosted trees", GradientBoostingRegressor(n_estimators=200, random_state=0)),
]


def main():
    """Draw cross-validated and test risks of the candidates, and their weights."""
    X, y = make_friedman1(5300, noise=1.5, random_state=0)
    X, X_new, y, y_new = X[:300], X[300:], y[:300], y[300:]
    model = SuperLearnerRegressor(CANDIDATES, random_state=0).fit(X, y)
    table = model.cv_risks_
    test = np.array(
        [np.mean((clone(each).fit(X, y).predict(X_new) - y_new) ** 2) for _, each in CANDIDATES]
    )
    mixture = np.mean((model.predict(X_new) - y_new) ** 2)
    order = np.argsort(-table.risk)
    figure, (risks, weights) = panels(2, sharey=True, width_ratios=(2, 1))
    places = np.arange(len(order))
    risks.errorbar(
        table.risk[order], places, xerr=2 * table.standard_error[order], fmt="o", color=BLUE,
        ecolor=GREY, label="cross-validation",
    )  # fmt: skip
    risks.plot(test[order], places, "D", color=ORANGE, label="new rows")
    risks.axvline(mixture, color=BLACK, linestyle="--", label="super learner, new rows")
    risks.set_yticks(places, [table.candidates[m] for m in order])
    risks.set_xlabel("mean squared error")
    risks.set_title("Risk of the candidates")
    risks.legend()
    weights.barh(places, table.weights[order], color=BLUE)
    for place, weight in zip(places, table.weights[order], strict=True):
        weights.text(weight + 0.01, place, f"{weight:.2f}", va="center")
    weights.set_xlim(0, 1.2 * table.weights.max())
    weights.set_xlabel("weight")
    weights.set_title("Weights in the mixture")
    numbers = {"cv": table.risk, "test": test, "mixture": mixture, "weights": table.weights}
    point = (
        f"error on new rows: best candidate ({CANDIDATES[test.argmin()][0]}) {test.min():.2f}, "
        f"super learner {mixture:.2f}; correlation of cross-validated and test risks "
        f"{np.corrcoef(table.risk, test)[0, 1]:.3f}"
    )
    return Example(figure, point, numbers)


if __name__ == "__main__":
    save(main)
