"""L2 boosting, step by step.

With squared loss, boosting is fitting residuals. Each round fits a stump to what the sum of the
earlier ones left over (top: the sum so far; bottom: the residuals, and the stump that is fitted
to them next). The step is the best one, sum of h r / sum of h², and for a tree of means that is
1.

One step function after another, the sum takes the shape of the curve, and the residuals lose
theirs: after 30 rounds they look like the noise, and the next stump finds nothing to say.

Friedman (2001), Greedy function approximation, Annals of Statistics 29, algorithm 2; Bühlmann and
Yu (2003), Boosting with the L2 loss, Journal of the American Statistical Association 98.
"""

import numpy as np
from figures import BLACK, BLUE, GREY, VERMILION, Example, panels, save

from weald import StagewiseRegressor
from weald.tree import DecisionTreeRegressor

SHOWN = (1, 2, 5, 30)
NOISE = 0.2


def main():
    """Draw the sum of stumps and what it leaves over, after some rounds."""
    random = np.random.default_rng(0)
    x = np.sort(random.uniform(0, 1, 150))
    y = np.sin(2 * np.pi * x) + random.normal(0, NOISE, 150)
    X, grid = x[:, None], np.linspace(0, 1, 400)
    model = StagewiseRegressor(DecisionTreeRegressor(max_depth=1), n_estimators=SHOWN[-1] + 1)
    model.fit(X, y)
    fits = list(model.staged_predict(X))
    curves = list(model.staged_predict(grid[:, None]))
    stumps = model.member_predictions(grid[:, None]) * model.steps_[:, None]
    figure, axes = panels(len(SHOWN), 2, height=3.8, sharex=True, sharey="row")
    for (top, bottom), rounds in zip(axes.T, SHOWN, strict=True):
        top.plot(x, y, ".", color=GREY, markersize=3)
        top.plot(grid, np.sin(2 * np.pi * grid), "--", color=BLACK, linewidth=1)
        top.plot(grid, curves[rounds - 1], color=BLUE)
        bottom.plot(x, y - fits[rounds - 1], ".", color=GREY, markersize=3)
        bottom.plot(grid, stumps[rounds], color=VERMILION)
        top.set_title("1 stump" if rounds == 1 else f"{rounds} stumps")
        bottom.set_xlabel("x")
    axes[0, 0].set_ylabel("y")
    axes[1, 0].set_ylabel("residual")
    lines = [axes[0, 0].lines[1], axes[0, 0].lines[2], axes[1, 0].lines[1]]
    labels = ["truth", "sum of stumps", "next stump"]
    figure.legend(lines, labels, loc="outside lower center", ncols=3)
    losses = model.train_losses_
    numbers = {"losses": losses, "steps": model.steps_, "noise": NOISE**2 / 2}
    numbers["residual"] = np.std(y - fits[SHOWN[-1] - 1])
    point = (
        "training loss after 0, 1, 2, 5 and 30 stumps: "
        + ", ".join(f"{losses[rounds]:.3f}" for rounds in (0, *SHOWN))
        + f"; residuals scatter by {numbers['residual']:.2f}, the noise by {NOISE}"
    )
    return Example(figure, point, numbers)


if __name__ == "__main__":
    save(main)
