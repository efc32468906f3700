"""The table of cross-validated risks of all candidates, with standard errors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from weald._engine import FloatArray
from weald.crossfit.risks import Risk
from weald.params.extras import axes_or_new, import_extra

__all__ = ["RiskTable", "risk_table"]

IntArray = npt.NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class RiskTable:
    """Cross-validated risks; less is better.

    Attributes
    ----------
    name : str
        Of the risk.
    candidates : list of str
    risk, standard_error : arrays of shape (n_candidates,)
        The standard error is that of a mean over rows, of groups as a whole where there are groups;
        for a metric that is no mean over rows, that of the mean over folds.
    fold_risks : array of shape (n_candidates, n_folds)
    weights : array of shape (n_candidates,)
        In the super learner.
    seconds : array of shape (n_candidates,)
        All fits of a candidate on folds took.
    notes : list of str
        Why a candidate has no risk, or "".
    """

    name: str
    candidates: list[str]
    risk: FloatArray
    standard_error: FloatArray
    fold_risks: FloatArray
    weights: FloatArray
    seconds: FloatArray
    notes: list[str]

    def columns(self) -> dict[str, Any]:
        """The columns of the table, best candidate first."""
        order = np.argsort(self.risk, kind="stable")
        columns: dict[str, Any] = {
            "candidate": [self.candidates[m] for m in order],
            "risk": self.risk[order],
            "standard_error": self.standard_error[order],
            "weight": self.weights[order],
            "seconds": self.seconds[order],
        }
        if any(self.notes):
            columns["note"] = [self.notes[m] for m in order]
        return columns

    def to_frame(self) -> Any:
        """A pandas data frame, best candidate first."""
        return import_extra("pandas", "to_frame").DataFrame(self.columns())

    def plot(self, ax: Any = None) -> Any:
        """Risks with twice their standard errors, best candidate on top.

        Parameters
        ----------
        ax : matplotlib Axes, optional

        Returns
        -------
        matplotlib Axes
        """
        known = [m for m in np.argsort(self.risk)[::-1] if np.isfinite(self.risk[m])]
        wide = 5.5 + 0.08 * max((len(self.candidates[m]) for m in known), default=0)
        ax = axes_or_new(ax, "plot", (max(7.0, wide), 0.45 * len(known) + 1.4))
        places, risks = np.arange(len(known)), self.risk[known]
        errors, used = 2 * self.standard_error[known], self.weights[known] > 0
        ax.errorbar(risks, places, xerr=errors, fmt="none", ecolor="0.6", zorder=1)
        for chosen, color, label in ((used, "C0", "has weight"), (~used, "0.7", "no weight")):
            if chosen.any():
                ax.scatter(risks[chosen], places[chosen], color=color, label=label, zorder=2)
        names = [f"{self.candidates[m]}  {_two_digits(self.weights[m])}".rstrip() for m in known]
        ax.set_yticks(places, names)
        ax.set_ylim(-0.7, len(known) - 0.3)
        ax.set_xlabel(f"cross-validated {self.name.replace('_', ' ')} (bars: 2 standard errors)")
        ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2, frameon=False)
        return ax

    def __str__(self) -> str:
        columns = self.columns()
        wide = max([len(name) for name in columns["candidate"]] + [9])
        lines = [f"{'candidate':{wide}}  {self.name:>14}  {'std. error':>10}  weight  seconds"]
        rows = zip(*list(columns.values())[:5], strict=True)
        notes = columns.get("note", [""] * len(self.candidates))
        for (name, risk, error, weight, seconds), note in zip(rows, notes, strict=True):
            lines.append(
                f"{name:{wide}}  {risk:14.6g}  {error:10.3g}  {weight:6.3f}  {seconds:7.2f}"
                f"{'  ' + note if note else ''}".rstrip()
            )
        return "\n".join(lines)


def _two_digits(weight: float) -> str:
    if weight == 0:
        return ""
    return f"{weight:.2f}" if weight >= 0.005 else "< 0.01"


def risk_table(
    risk: Risk,
    said: list[FloatArray],
    y: FloatArray,
    w: FloatArray,
    fold: IntArray,
    cluster: IntArray,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Risk, standard error and risk on each fold of every candidate.

    Parameters
    ----------
    risk : Risk
    said : list of arrays of shape (n, K)
    y, w, fold : arrays of shape (n,)
    cluster : array of shape (n,)
        Rows that may be alike: the same row in several folds, or a group.
    """
    folds = np.unique(fold)
    means = np.array([risk.mean(P, y, w) for P in said])
    by_fold = np.array(
        [[risk.mean(P[fold == v], y[fold == v], w[fold == v]) for v in folds] for P in said]
    )
    if not risk.by_row:
        spread = by_fold.std(axis=1, ddof=1) if len(folds) > 1 else np.full(len(said), np.nan)
        return means, spread / np.sqrt(len(folds)), by_fold
    errors = np.array([_error(risk.losses(P, y), w, cluster) for P in said])
    return means, errors, by_fold


def _error(losses: FloatArray, w: FloatArray, cluster: IntArray) -> float:
    """Standard error of a weighted mean of rows that come in clusters."""
    mean = w @ losses / w.sum()
    sums = np.bincount(cluster, w * (losses - mean))
    n = len(np.unique(cluster))
    if n < 2:
        return float("nan")
    return float(np.sqrt((sums**2).sum() * n / (n - 1)) / w.sum())
