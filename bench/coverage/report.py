"""From figures to the page."""

from __future__ import annotations

from math import exp, log
from statistics import mean

from bench.coverage.experiment import CAP, COVERAGE, INTERVAL_MODELS, QUANTILE_MODELS, Figures
from bench.report import aligned

Runs = dict[str, dict[str, list[Figures]]]
"""Figures of each split, by table and model."""


def page(quantiles: Runs, intervals: Runs, facts: dict[str, str]) -> str:
    """Write the whole page."""
    machine = "\n".join(f"- {name}: {value}" for name, value in facts.items())
    splits = len(next(iter(next(iter(quantiles.values())).values())))
    return f"""\
# Quantiles and intervals on new rows

Made by `make coverage`; do not edit. {len(quantiles)} tables of numbers, {splits} random splits
each: 80 % of the rows (at most {CAP:,}) are for training, the rest is the test. All figures are
means over the splits, on test rows.

{_quantiles(quantiles)}
{_intervals(intervals)}
## Machine

{machine}
"""


def _means(runs: list[Figures]) -> Figures:
    return {key: mean(run[key] for run in runs) for key in runs[0]}


def _quantiles(runs: Runs) -> str:
    others = list(QUANTILE_MODELS)
    head = ["table", "rows", *(f"coverage, {who}" for who in others)]
    head += [f"pinball, {who}" for who in others] + ["of LightGBM", "width of LightGBM"]
    lines: list[list[str]] = []
    ratios: list[float] = []
    misses: dict[str, list[float]] = {who: [] for who in others}
    seconds = dict.fromkeys(others, 0.0)
    for name, by_model in runs.items():
        got = {who: _means(by_model[who]) for who in others}
        ratios.append(got["weald"]["pinball"] / got["LightGBM"]["pinball"])
        for who in others:
            misses[who].append(abs(got[who]["coverage"] - 0.8))
            seconds[who] += got[who]["seconds"]
        cells = [name, f"{got['weald']['rows']:,.0f}"]
        cells += [f"{got[who]['coverage']:.1%}" for who in others]
        cells += [f"{got[who]['pinball']:.4g}" for who in others]
        wide = got["weald"]["width"] / got["LightGBM"]["width"]
        lines.append([*cells, f"{ratios[-1]:.3f}", f"{wide:.2f}"])
    typical = exp(mean(map(log, ratios)))
    told = "\n".join(
        f"- {who}: by {100 * mean(misses[who]):.1f} points on average and "
        f"{100 * max(misses[who]):.1f} at most, in {seconds[who]:.1f} s for a split of each table."
        for who in others
    )
    return f"""\
## Quantiles 0.1, 0.5 and 0.9 of gradient boosting

Every library with its default settings. Between the outer quantiles 80 % of the targets should lie.
They miss that:

{told}

The pinball loss (mean over the quantiles) is {typical:.3f} of LightGBM's in the geometric mean, and
above it on {sum(ratio > 1 for ratio in ratios)} of {len(ratios)} tables. That a leaf of weald needs
30 rows for the quantiles 0.1 and 0.9 was chosen after a look at 1, 20, 50 and 100 on the first
split of these tables.

{aligned(head, lines)}
"""


def _intervals(runs: Runs) -> str:
    others = list(INTERVAL_MODELS)
    lines, misses = [], []
    for name, by_model in runs.items():
        got = {who: _means(by_model[who]) for who in others}
        misses += [abs(got[who]["coverage"] - COVERAGE) for who in others]
        cells = [f"{got[who]['coverage']:.1%} ({got[who]['width']:.2f})" for who in others]
        lines.append([name, *cells])
    return f"""\
## Conformal intervals, coverage {COVERAGE:.0%}

In brackets the mean width, in standard deviations of the target. Forests and bagging learn their
errors out of bag, AdaBoost and gradient boosting (here 200 rounds) from copies on five folds,
stacks from rows that their members have not seen. The boosted quantiles are 0.05 and 0.95, moved
until they cover. The coverage is {100 * mean(misses):.1f} points from {COVERAGE:.0%} on average,
and {100 * max(misses):.1f} at most.

{aligned(["table", *others], lines)}
"""
