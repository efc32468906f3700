"""From figures to the page."""

from __future__ import annotations

from statistics import mean, stdev

from bench.report import aligned
from bench.theory.experiment import DELTA, TREES, Figures
from bench.theory.published import MASEGOSA, Figure

INTRODUCTION = f"""\
# PAC-Bayes bounds of forests

Made by `make theory`; do not edit. Forests of {TREES} trees on 80 % of the rows; the other 20 %
are the test. The bounds of their vote are made out of bag by `weald.theory.pac_bayes` and hold with
probability {1 - DELTA:.0%}. FO is the first-order bound, twice the loss of a drawn tree; TND the
second-order one, four times the tandem loss of a drawn pair; C the C-bound, for two classes from
the disagreement, else from the tandem loss.
"""

COLUMNS = ("vote, out of bag", "vote", "gibbs", "FO", "TND", "C", "best")


def page(bounds: dict[str, Figures], again: dict[str, list[Figures]], facts: dict[str, str]) -> str:
    """Write the whole page."""
    machine = "\n".join(f"- {name}: {value}" for name, value in facts.items())
    return "\n".join(
        (INTRODUCTION, _bounds(bounds), _published(again), "## Machine\n", machine, "")
    )


def _bounds(bounds: dict[str, Figures]) -> str:
    rows = [["set", "rows", "classes", "guess", "commonest", *_heads(), "of commonest"]]
    for name, got in sorted(bounds.items(), key=lambda item: item[1]["best"]):
        guess = 1 - 1 / got["classes"]
        cells = [name, f"{got['rows']:,.0f}", f"{got['classes']:.0f}", f"{guess:.3f}"]
        cells += [f"{got[column]:.4f}" for column in ("commonest", *COLUMNS)]
        rows.append([*cells, f"{got['best'] / got['commonest']:.2f}"])
    best = [got["best"] for got in bounds.values()]
    below = sum(value < 0.5 for value in best)
    held = sum(got["vote"] <= got["best"] for got in bounds.values())
    against = sum(got["best"] < got["commonest"] for got in bounds.values())
    guessed = sum(got["best"] < (1 - 1 / got["classes"]) for got in bounds.values())
    return f"""\
## Bounds on real tables

The trivial bound is 1. The best bound is below half of it on **{below} of {len(best)} sets**. It is
below the error of a blind guess, 1 - 1/K, on {guessed}, and below the error of naming the commonest
class, which is much harder, on {against}. The error on the test rows is below it on {held}.
"Best" is the least of the bounds of the vote with equal, FO-minimising or TND-minimising weights;
each had its part of the 5 %, and one bound holds for all weights at once, so that it may be chosen.

{aligned(rows[0], rows[1:])}
"""


def _heads() -> list[str]:
    words = {"vote, out of bag": "vote, seen", "vote": "vote, test", "gibbs": "tree, seen"}
    return [words.get(column, column) for column in COLUMNS]


def _published(again: dict[str, list[Figures]]) -> str:
    rows = [["set", "figure", "ours", "published", "difference", "in sd"]]
    apart: list[float] = []
    for name, runs in again.items():
        for what, theirs in MASEGOSA[name].items():
            ours = _mean([run[what] for run in runs])
            sd = max(ours[1], theirs[1], 1e-4)
            gap = ours[0] - theirs[0]
            apart.append(abs(gap) / sd)
            rows.append([name, what, _text(ours), _text(theirs), f"{gap:+.4f}", f"{gap / sd:+.1f}"])
    near = sum(value <= 2.0 for value in apart)
    return f"""\
## A published experiment again

Masegosa, Lorenzen, Igel and Seldin (2020), "Second Order PAC-Bayesian Bounds for the Weighted
Majority Vote": forests of 100 trees, random 80/20 splits, full bagging; those of their sets that
we have. Theirs are means (and standard deviations) over five to nine of the fifty repetitions whose
results their code repository keeps (github.com/StephanLorenzen/MajorityVoteBounds), ours over
{len(next(iter(again.values()), []))}. C1 is the C-bound of Germain et al. (2015) with its own
constant. adult and connect4 are columns of 0 and 1, as in LIBSVM; splice is junction or none, with
the letters A, G, C, T as 1 to 4: their order was not published, and this one fits the errors of
their single trees (A, C, G, T does not).
**{near} of {len(apart)} figures are within two standard deviations of one repetition** (the larger
of ours and theirs, or 0.0001). On zipcode a tree of scikit-learn's forest errs on 0.191 of the rows
out of bag, as ours does: the published file must be another version of the set.

{aligned(rows[0], rows[1:])}
"""


def _mean(values: list[float]) -> Figure:
    return mean(values), stdev(values) if len(values) > 1 else 0.0


def _text(figure: Figure) -> str:
    return f"{figure[0]:.4f} ({figure[1]:.4f})"
