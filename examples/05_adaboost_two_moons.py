"""AdaBoost on two moons: weights, bound and boundary.

The size of a point is its weight. After one stump (a cut along one axis) all rows that it got
wrong have grown. Later rounds work on those: the weight gathers where the moons meet, and the
boundary bends around them, although each member knows only straight cuts along an axis.

Bottom right, the theorem: with the error e of a round and its edge 1/2 - e, the training error is
at most the product of Z = 2 sqrt(e (1 - e)), and that is at most exp(-2 sum of squared edges). As
long as stumps stay a little better than chance, the bound falls to zero exponentially, and the
training error has to follow.

Freund and Schapire (1997), A decision-theoretic generalization of on-line learning and an
application to boosting, Journal of Computer and System Sciences 55.
"""

import numpy as np
from figures import BLACK, BLUE, ORANGE, VERMILION, Example, name, panels, save
from sklearn.datasets import make_moons

from weald import AdaBoostClassifier
from weald.theory import certificate

ROUNDS = 100
SHOWN = (1, 10, ROUNDS)


def main():
    """Draw the boundary and the weights after some rounds, and the bound over all of them."""
    X, y = make_moons(200, noise=0.2, random_state=0)
    model = AdaBoostClassifier(n_estimators=ROUNDS, keep_weights=True).fit(X, y)
    across, up = np.meshgrid(np.linspace(-1.6, 2.6, 169), np.linspace(-1.2, 1.7, 117))
    stages = list(model.staged_predict(np.c_[across.ravel(), up.ravel()]))
    figure, axes = panels(2, 2, height=5.6)
    for ax, rounds in zip(axes.flat, SHOWN, strict=False):
        side = stages[rounds - 1].reshape(across.shape)
        ax.contourf(across, up, side, levels=[-0.5, 0.5, 1.5], colors=["#FBE8C4", "#D3EAF8"])
        for label, color in ((0, ORANGE), (1, BLUE)):
            rows = y == label
            size = 12 * len(y) * model.weights_[rounds][rows]
            ax.scatter(
                *X[rows].T,
                s=size,
                color=color,
                edgecolor="white",
                linewidth=0.4,
                label=f"class {label}",
            )
        name(ax, "One stump" if rounds == 1 else f"{rounds} stumps", "x1", "x2")
    classes = axes[0, 0].legend(loc="upper right", handletextpad=0.2)
    for handle in classes.legend_handles:
        handle.set_sizes([24])
    proof = certificate(model, X, y)
    rounds, bound = np.arange(1, ROUNDS + 1), axes[1, 1]
    bound.plot(rounds, proof.exponential_bound, ":", color=BLACK, label="exp(-2 sum of edges²)")
    bound.plot(rounds, proof.product, "--", color=VERMILION, label="product of Z")
    bound.step(rounds, proof.error, where="post", color=BLUE, label="training error")
    bound.set_ylim(0, 1)
    bound.legend()
    name(bound, "The bound", "rounds of AdaBoost", "error rate")
    numbers = {"error": proof.error, "product": proof.product, "bound": proof.exponential_bound}
    weights = model.weights_[-1]
    numbers["share_of_heaviest"] = np.sort(weights)[-len(y) // 10 :].sum()
    point = (
        f"after {ROUNDS} rounds: training error {proof.error[-1]:.3f} <= "
        f"{proof.product[-1]:.3f} <= {proof.exponential_bound[-1]:.3f}; a tenth of the rows has "
        f"{numbers['share_of_heaviest']:.0%} of the weight"
    )
    return Example(figure, point, numbers)


if __name__ == "__main__":
    save(main)
