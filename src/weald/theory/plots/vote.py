"""Pictures of bounds for votes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weald.theory.plots.style import BLUE, GREY, ORANGE, SKY, VERMILION, finish, percent
from weald.theory.vote_bounds import BOUNDS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from weald.theory.vote import VoteBounds

__all__ = ["draw_bounds"]


def draw_bounds(result: VoteBounds, ax: Axes) -> None:
    """Bars: the bounds of a drawn member and of the vote; lines: what was seen, and a guess."""
    used = [bound for bound in BOUNDS if bound.name in result.bounds]
    ax.axvline(result.guess_error, color=GREY, ls=":", lw=2, zorder=0, label="a guess")
    for of, colour, who in (("gibbs", SKY, "member"), ("vote", BLUE, "vote")):
        places = [i for i, bound in enumerate(used) if bound.of == of]
        values = [result.bounds[used[i].name] for i in places]
        ax.barh(places, values, color=colour, height=0.7)
        for place, value in zip(places, values, strict=True):
            inside = value > 0.8
            ax.text(
                value - 0.01 if inside else value + 0.01,
                place,
                f"{value:.1%}" if value < 1.0 else "says nothing",
                ha="right" if inside else "left",
                va="center",
                color="white" if inside and of == "vote" else "black",
                bbox=None if inside else {"facecolor": "white", "edgecolor": "none", "pad": 1},
            )
        ax.vlines(
            result.seen.gibbs if of == "gibbs" else result.vote_error,
            places[0] - 0.45,
            places[-1] + 0.45,
            color=ORANGE if of == "gibbs" else VERMILION,
            lw=3,
            label=f"{who}, seen",
        )
    ax.set_yticks(range(len(used)), [bound.label for bound in used])
    ax.invert_yaxis()
    ax.set_xlim(0.0, 1.0)
    percent(ax.xaxis)
    sure = f"{1 - result.delta:.0%}"
    finish(ax, x=f"error on new rows, at most (each with probability {sure})", y="", columns=3)
