"""Pictures of complexity: parts of an error, random signs, bounds, densities, intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from weald.theory.decomposition import LOSSES
from weald.theory.plots import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "draw_bound",
    "draw_densities",
    "draw_edge_bounds",
    "draw_intervals",
    "draw_parts",
    "draw_suprema",
]

_SHOWN = 60  # rows whose intervals fit side by side
_PARTS = {
    "noise": (style.GREY, ""),
    "bias": (style.BLUE, ""),
    "variance": (style.ORANGE, ""),
    "helpful variance": (style.GREEN, "//"),
}


def draw_parts(result: Any, ax: Axes) -> None:
    """A bar for each estimator, of parts that add up; what helps goes below zero."""
    names = list(result.names)
    at = np.arange(len(names))
    above, below = np.zeros(len(at)), np.zeros(len(at))
    labels = {"bias": "bias²"} if result.loss == "squared" else {}
    for k, part in enumerate(result.parts):
        values = LOSSES[result.loss][part] * result.values[:, k]
        if part == "noise" and not result.truth_known:
            continue
        colour, hatch = _PARTS[part]
        base = np.where(values >= 0, above, below)
        ax.barh(
            at,
            values,
            left=base,
            color=colour,
            hatch=hatch,
            edgecolor="white",
            label=labels.get(part, part),
        )
        above, below = above + np.maximum(values, 0), below + np.minimum(values, 0)
    ax.errorbar(
        result.values[:, -1],
        at,
        xerr=2 * result.errors[:, -1],
        fmt="D",
        color=style.BLACK,
        markersize=5,
        capsize=3,
        label="error ± 2 standard errors",
    )
    ax.axvline(0, color=style.BLACK, linewidth=0.8)
    ax.set_yticks(at, names)
    ax.invert_yaxis()
    loss = "squared error" if result.loss == "squared" else "share of wrong predictions"
    style.finish(ax, x=f"expected {loss} on new rows", y="", columns=3)


def draw_suprema(result: Any, ax: Axes) -> None:
    """How well random signs were followed, one by one and on average."""
    ax.hist(result.suprema, bins="auto", color=style.SKY, edgecolor="white")
    ax.axvline(result.value, color=style.BLUE, linewidth=2, label=f"complexity {result.value:.3g}")
    if result.bound is not None:
        ax.axvline(
            result.bound,
            color=style.VERMILION,
            linestyle="--",
            label=f"bound in closed form {result.bound:.3g}",
        )
    if result.range is not None:
        ax.set_xlim(0, max(1.05 * result.suprema.max(), 1.05 * (result.bound or 0)))
    best = "best" if result.attained else "fitted"
    style.finish(ax, x=f"agreement of the {best} function with random signs", y="sign vectors")


def draw_bound(result: Any, ax: Axes) -> None:
    """Training error and bound over the number of members; or one bar."""
    chance = 1 - 1 / result.n_classes
    wrong = "training error" if result.margin is None else "rows with small margins"
    if len(result.bound) == 1:
        left = 0.0
        for name, colour, value in (
            (wrong, style.BLUE, result.training_error[0]),
            ("complexity", style.ORANGE, result.complexity[0]),
            ("confidence", style.GREY, result.confidence[0]),
        ):
            ax.barh([0], [value], left=left, color=colour, label=name, edgecolor="white")
            left += value
        ax.axvline(chance, color=style.BLACK, linestyle=":", label="guessing")
        ax.set_yticks([])
        style.percent(ax.xaxis)
        style.finish(ax, x="bound on the error on new rows", y="", columns=4)
        return
    rounds = np.arange(1, len(result.bound) + 1)
    ax.fill_between(
        rounds,
        result.training_error,
        result.training_error + result.complexity,
        color=style.ORANGE,
        alpha=0.35,
        linewidth=0,
        label="complexity",
    )
    ax.plot(rounds, result.bound, color=style.VERMILION, label="bound on the error on new rows")
    ax.plot(rounds, result.training_error, color=style.BLUE, label=wrong)
    best = result.best_round
    ax.plot(
        [best],
        [result.bound[best - 1]],
        "o",
        color=style.VERMILION,
        label=f"smallest bound: {best} members",
    )
    ax.axhline(chance, color=style.BLACK, linestyle=":", linewidth=1, label="guessing")
    style.members(ax, len(rounds))
    style.percent(ax.yaxis)
    ax.set_ylim(bottom=0)
    style.finish(ax, x="members", y="share of rows")


def draw_edge_bounds(result: Any, ax: Axes) -> None:
    """What is known of the edge after each round."""
    rounds = np.arange(1, len(result.lower) + 1)
    low = np.maximum(result.lower, 0.0)
    ax.fill_between(rounds, low, result.upper, color=style.SKY, alpha=0.35, linewidth=0)
    ax.plot(rounds, result.upper, color=style.VERMILION, marker=".", label="edge, at most")
    ax.plot(rounds, low, color=style.BLUE, marker=".", label="edge, at least")
    ax.set_ylim(bottom=-0.02 * max(result.upper.max(), 0.01))
    style.members(ax, len(rounds))
    style.finish(ax, x="rounds of the search", y="edge under the hardest weights")


def draw_densities(result: Any, ax: Axes) -> None:
    """The weighted densities, and the part of them that must go wrong."""
    one, two = result.weighted
    x = result.grid
    ax.fill_between(
        x,
        np.minimum(one, two),
        color=style.GREY,
        alpha=0.6,
        linewidth=0,
        label=f"Bayes error {result.error:.4g}",
    )
    ax.plot(x, one, color=style.BLUE, label=f"class 1, prior {result.priors[0]:.3g}")
    ax.plot(
        x,
        two,
        color=style.VERMILION,
        linestyle="--",
        label=f"class 2, prior {result.priors[1]:.3g}",
    )
    for k, place in enumerate(result.boundaries):
        label = "decision changes" if k == 0 else None
        ax.axvline(place, color=style.BLACK, linewidth=0.8, linestyle=":", label=label)
    ax.set_ylim(bottom=0)
    seen = np.flatnonzero(np.maximum(one, two) > 1e-3 * np.nanmax(result.weighted))
    ax.set_xlim(x[seen[0]], x[seen[-1]])
    style.finish(ax, x="x", y="prior × density")


def draw_intervals(result: Any, ax: Axes) -> None:
    """Predictions of some rows in order, with their intervals and the spread of members."""
    prediction, ends, spread = result.prediction, result.interval, result.member_variance
    name = "prediction"
    if result.classes is not None:
        k = len(result.classes) - 1
        prediction, ends, spread = prediction[:, k], ends[:, k], spread[:, k]
        name = f"share of class {result.classes[k]!s}"
    order = np.argsort(prediction, kind="stable")
    shown = order[np.unique(np.linspace(0, len(order) - 1, _SHOWN).astype(np.intp))]
    at = np.arange(len(shown))
    sd = np.sqrt(spread[shown])
    p, low, high = prediction[shown], ends[shown, 0], ends[shown, 1]
    around = np.array([p - sd, p + sd])
    if result.classes is not None:
        around = around.clip(0.0, 1.0)
    ax.vlines(at, *around, color=style.GREY, alpha=0.35, linewidth=4, label="± one member")
    ax.vlines(at, low, high, color=style.BLUE, label=f"{result.level:.0%} interval of the forest")
    ax.plot(at, p, ".", color=style.BLACK, label=name)
    none = (result.variance if result.classes is None else result.variance[:, k])[shown] <= 0
    if none.any():
        ax.plot(at[none], p[none], "x", color=style.VERMILION, label="no variance found")
    some = f"{len(shown)} of {len(order)} rows" if len(shown) < len(order) else "rows"
    style.finish(ax, x=f"{some}, ordered by their prediction", y=name)
