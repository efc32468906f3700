"""Pictures of members: what they gain together, and how they differ."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from weald.theory.plots import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["draw_ambiguity", "draw_correlation", "draw_diversity", "draw_strength"]


def draw_ambiguity(result: Any, ax: Axes) -> None:
    """Each member by how far it is from the ensemble, and its error; and the three means."""
    even = np.ptp(result.weights) == 0
    size = 18 if even else 8 + 60 * result.weights / result.weights.max()
    ax.scatter(
        result.member_spreads,
        result.member_errors,
        s=size,
        color=style.SKY,
        edgecolor=style.BLUE,
        linewidth=0.6,
        label="members" if even else "members (size: weight)",
    )
    ax.axhline(result.mean_member_error, color=style.BLUE, label="members, mean error")
    ax.axhline(result.ensemble_error, color=style.VERMILION, label="ensemble, error")
    ax.annotate(
        "",
        xy=(result.spread, result.ensemble_error),
        xytext=(result.spread, result.mean_member_error),
        arrowprops={"arrowstyle": "<->", "color": style.BLACK, "shrinkA": 0, "shrinkB": 0},
    )
    ax.plot([], [], color=style.BLACK, label=f"mean spread {result.spread:.4g}")
    ax.set_ylim(bottom=0)
    ax.set_xlim(left=0)
    unit = "unit of y squared" if result.loss == "squared error" else "sum over classes"
    style.finish(
        ax,
        x=f"distance from the ensemble, mean square ({unit})",
        y=f"{result.loss} ({unit})",
    )


def draw_correlation(result: Any, ax: Axes) -> None:
    """The variance of means of B members: predicted, measured, and the floor."""
    fine = np.geomspace(1, result.sizes[-1], 200)
    s2, floor = result.sigma2, result.floor
    ax.plot(fine, floor + (s2 - floor) / fine, color=style.BLUE, label="ρ s² + (1 - ρ) s² / B")
    ax.plot(
        result.sizes,
        result.measured,
        linestyle="none",
        marker="o",
        color=style.VERMILION,
        label="measured, groups of B",
    )
    ax.axhline(floor, color=style.GREY, linestyle="--", label="floor ρ s²")
    ax.set_xscale("log", base=2)
    shown = result.sizes if len(result.sizes) < 8 else result.sizes[:-1]
    ax.set_xticks(shown, [str(size) for size in shown])
    ax.minorticks_off()
    ax.set_ylim(bottom=0)
    y = "mean squared error" if result.of_errors else "variance over rows"
    style.finish(
        ax,
        x="members B in the mean (log scale)",
        y=f"{y} (unit of y squared)",
        title=f"ρ = {result.rho:.3f}, s² = {s2:.4g}",
        columns=3,
    )


def draw_strength(result: Any, ax: Axes) -> None:
    """The distribution of margins, its mean (the strength) and the errors."""
    margins = result.margins[np.isfinite(result.margins)]
    edges = np.linspace(-1, 1, 41).tolist()
    for wrong, colour, label in (
        (False, style.SKY, "right"),
        (True, style.VERMILION, f"wrong or tied ({(margins <= 0).mean():.1%})"),
    ):
        part = margins[(margins <= 0) == wrong]
        share = np.full(len(part), 1 / len(margins))
        ax.hist(part, edges, weights=share, color=colour, edgecolor="white", label=label)
    ax.axvline(result.strength, color=style.BLACK, label=f"strength {result.strength:.2f}")
    style.percent(ax.yaxis)
    how = "out-of-bag" if result.out_of_bag else "rows given"
    style.finish(
        ax,
        x=f"margin of the vote, {how} (right class less best other)",
        y="rows (%)",
        title=f"ρ = {result.rho:.2f}, bound {result.bound:.3g}, error {result.error:.3g}",
        columns=3,
    )


def draw_diversity(result: Any, ax: Axes) -> None:
    """Kappa and mean error of every pair of members: the kappa-error diagram."""
    first, second = result.pairs
    if not len(first):
        raise ValueError("A picture of pairs needs two members or more.")
    kappa = result.kappa[result.pairs]
    error = (result.errors[first] + result.errors[second]) / 2
    many = len(kappa) > 2000
    ax.scatter(
        kappa,
        error,
        s=6 if many else 16,
        color=style.BLUE,
        alpha=0.15 if many else 0.5,
        linewidth=0,
        label=f"{len(kappa)} pairs of members",
        rasterized=True,
    )
    ax.scatter(
        result.mean("kappa"), error.mean(), color=style.ORANGE, edgecolor="black", label="mean"
    )
    ax.axhline(result.vote_error, color=style.VERMILION, label="error of the vote")
    ax.set_ylim(bottom=0)
    style.percent(ax.yaxis)
    style.finish(
        ax,
        x="kappa (0: agree by chance, 1: always the same class)",
        y="mean error of the two (% of rows)",
        columns=3,
    )
