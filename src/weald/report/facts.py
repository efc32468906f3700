"""Everything a report says, as numbers and sentences; how it looks is the business of the page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from weald._engine import IntArray
from weald.input.table import check_X_predict
from weald.members.formula import Formula, NoFormula
from weald.report.effects import ColumnImportance, Dependence, dependence_of, importance_of
from weald.report.embedded_trees import EmbeddedTrees, embed_trees
from weald.report.honest import Honest, honest_predictions
from weald.report.overview import DataFacts, data_facts
from weald.report.progress_curves import Curve, curves_of
from weald.report.proofs import Proofs, proofs_of
from weald.report.quality import ClassQuality, NumberQuality, quality_of
from weald.report.table_rows import TableRows, read_rows

__all__ = ["Contender", "Panel", "ReportFacts", "gather"]

_DEPENDENCE = 6  # columns
_EXAMPLES = 24  # rows to start from in the page


@dataclass(frozen=True)
class Contender:
    """A row of the leaderboard."""

    method: str
    score: float
    std_error: float | None
    seconds: float | None
    cut: bool = False


@dataclass(frozen=True, eq=False)
class Panel:
    """What the page needs to ask the trees.

    Attributes
    ----------
    trees : EmbeddedTrees
    categories : tuple
        Per column None, or its labels, as the model knows them.
    levels : dict
        Columns of ordered categories, which are numbers to the trees, with their labels.
    newcomers : dict
        Columns where a category that was never seen has the code of another.
    order : array of shape (d,)
        Columns, the most important first.
    rows : array of shape (m, d)
        Examples, as numbers and codes.
    numbers : array of shape (m,)
        Which rows of the table they are.
    adds : bool
        What a node says is a part of a sum, not a prediction.
    """

    trees: EmbeddedTrees
    categories: tuple[npt.NDArray[Any] | None, ...]
    levels: dict[int, list[Any]]
    newcomers: dict[int, int]
    order: IntArray
    rows: npt.NDArray[Any]
    numbers: IntArray
    adds: bool


@dataclass(frozen=True, eq=False)
class ReportFacts:
    """All facts of a report."""

    title: str
    model: str
    method: str
    rows: TableRows
    data: DataFacts
    notes: tuple[str, ...]
    leaderboard: tuple[Contender, ...]
    honest: Honest
    quality: ClassQuality | NumberQuality
    curves: tuple[Curve, ...]
    importance: ColumnImportance | None
    dependence: tuple[Dependence, ...]
    proofs: Proofs
    panel: Panel | None
    panel_words: str
    """Why there are no trees, or not all of them; empty if there are."""


def gather(
    model: Any,
    X: Any,
    y: Any,
    *,
    title: str,
    leaderboard: Iterable[Mapping[str, Any]] | None,
    notes: Iterable[str],
    seed: int,
) -> ReportFacts:
    """Find out everything; see :func:`weald.report.write_report` for the parameters."""
    contenders = tuple(map(_contender, leaderboard or ()))
    rows = read_rows(model, X, y)
    honest = honest_predictions(model, rows, seed)
    importance = importance_of(model, rows, honest, seed)
    order = np.arange(rows.X.shape[1]) if importance is None else importance.columns
    panel, words = _panel(model, rows, order)
    return ReportFacts(
        title=title,
        model=repr(model),
        method=type(model).__name__,
        rows=rows,
        data=data_facts(rows, seed),
        notes=tuple(map(str, notes)),
        leaderboard=contenders,
        honest=honest,
        quality=quality_of(honest, rows.classes, seed),
        curves=curves_of(model, honest),
        importance=importance,
        dependence=dependence_of(model, rows, order[:_DEPENDENCE].tolist(), seed),
        proofs=proofs_of(model, rows, seed),
        panel=panel,
        panel_words=words,
    )


def _contender(row: Mapping[str, Any]) -> Contender:
    missing = {"method", "score"} - set(row)
    if missing:
        raise ValueError(
            f"Each row of leaderboard needs 'method' and 'score' ('standard_error', 'seconds' "
            f"and 'cut' may be missing): {dict(row)!r} has no {sorted(missing)[0]!r}."
        )

    def number(name: str) -> float | None:
        value = row.get(name)
        return None if value is None or not np.isfinite(value) else float(value)

    score = number("score")
    return Contender(
        str(row["method"]),
        float("nan") if score is None else score,
        number("standard_error"),
        number("seconds"),
        bool(row.get("cut")),
    )


def _panel(model: Any, rows: TableRows, order: IntArray) -> tuple[Panel | None, str]:
    """The trees for the page, and what is missing of them, in a sentence."""
    try:
        formula: Formula = _formula_of(model)
    except NoFormula as reason:
        return None, f"The model cannot be asked in this page. {reason}"
    trees = embed_trees(formula)
    if trees is None:
        return None, "The trees are too large for a page: not even the first fits into 20 MB."
    words = ""
    if not trees.complete:
        words = (
            f"All trees together are too large for a page: it holds the first {trees.shown} of "
            f"{trees.there_are} rounds, to look at. They alone are not the model, so there is no "
            "prediction here."
        )
    matrix = check_X_predict(model, rows.table)
    numbers = np.unique(np.linspace(0, len(rows) - 1, _EXAMPLES).round().astype(np.int64))
    seen = set(order.tolist())
    all_columns = [*order.tolist(), *(j for j in range(matrix.shape[1]) if j not in seen)]
    adds = getattr(model, "_combination", "mean") in ("sum", "scores")
    panel = Panel(
        trees,
        tuple(model.categories_),
        getattr(model, "_ordered_columns", {}),
        getattr(model, "_newcomers", {}),
        np.array(all_columns, dtype=np.int64),
        np.asarray(matrix[numbers]),
        numbers,
        adds and trees.data["value"]["width"] == 1,
    )
    return panel, words


def _formula_of(model: Any) -> Formula:
    make = getattr(model, "_formula", None)
    if make is None:
        raise NoFormula(f"A {type(model).__name__} is no formula of trees.")
    formula: Formula = make()
    return formula
