"""Predictions of rows by models that did not see them.

The rows of a report may be those the model learned from, so what it says about them proves nothing.
Ensembles that leave rows out of their members' bags are asked out of bag; of other models copies
are fitted on folds. That is bounded: a part of a large table is used, and no fold is begun that
would probably end too late.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.model_selection import KFold, StratifiedKFold

from weald._engine import FloatArray, IntArray
from weald.members.ensemble import DrawingEnsemble
from weald.members.foreign import fit_member
from weald.members.out_of_bag import OutOfBag
from weald.members.trees import Trees
from weald.report.table_rows import TableRows

__all__ = ["Fold", "Honest", "answers", "honest_predictions", "saw_these_rows"]

ROWS = 10_000  # that copies are fitted to and asked about
FOLDS = 5
SECONDS = 20.0  # that all folds may take together; one is fitted in any case


@dataclass(frozen=True, eq=False)
class Fold:
    """A copy of the model, and rows it did not see.

    Attributes
    ----------
    model : fitted estimator
    rows : TableRows
    """

    model: Any
    rows: TableRows


@dataclass(frozen=True, eq=False)
class Honest:
    """Predictions of rows by models that did not see them.

    Attributes
    ----------
    source : "out-of-bag" or "cross-validation"
    words : str
        Where the predictions come from, in a sentence.
    y : array of shape (m,)
        Class codes or numbers of the rows.
    answer : array of shape (m, n_classes), or (m,)
        Class shares, or numbers.
    chosen : array of shape (m,)
        Class codes, or the same numbers.
    error_curve : array, optional
        Out-of-bag error after each member.
    folds : tuple of Fold
        The copies, if there are any.
    """

    source: str
    words: str
    y: npt.NDArray[Any]
    answer: FloatArray
    chosen: npt.NDArray[Any]
    error_curve: FloatArray | None = None
    folds: tuple[Fold, ...] = ()


def honest_predictions(model: Any, rows: TableRows, seed: int = 0) -> Honest:
    """Predict rows by models that did not see them.

    Parameters
    ----------
    model : fitted estimator
    rows : TableRows
    seed : int
        For the rows and folds of cross-validation.
    """
    found = _out_of_bag(model, rows)
    return _cross_validated(model, rows, seed) if found is None else found


def answers(
    model: Any, table: Any, labels: npt.NDArray[Any] | None
) -> tuple[FloatArray, npt.NDArray[Any]]:
    """Class shares and chosen codes, or numbers twice, of rows.

    Parameters
    ----------
    model : fitted estimator
    table : rows, as models want them
    labels : array, optional
        The classes, of which the model may know a part; None for numbers.
    """
    if labels is None:
        said = np.asarray(model.predict(table), dtype=np.float64)
        if said.ndim == 2:  # quantiles: the one in the middle
            said = said[:, int(np.argmin(np.abs(np.asarray(model.alpha) - 0.5)))]
        return said, said
    place = {label: code for code, label in enumerate(labels.tolist())}
    known = np.array([place[label] for label in np.asarray(model.classes_).tolist()], dtype=np.intp)
    said = np.asarray(model.predict(table)).tolist()
    chosen = np.array([place[label] for label in said], dtype=np.intp)
    shares = np.zeros((len(chosen), len(labels)))
    if hasattr(model, "predict_proba"):
        shares[:, known] = model.predict_proba(table)
    else:
        shares[np.arange(len(chosen)), chosen] = 1.0
    return shares, chosen


# --- out of bag ----------------------------------------------------------------------------------


def saw_these_rows(model: Any, rows: TableRows) -> bool:
    """Whether these can be the rows an ensemble that draws rows was fitted to, in their order.

    The rows drawn for a tree must fill its leaves as they did in the fit.
    """
    members = model._members
    if members.sampling is None or members.sampling.n_rows != len(rows):
        return False
    if not isinstance(members, Trees) or len(members) == 0:
        return True
    tree = members.forest.tree(0)
    leaf = tree.apply(members.read(model, rows.table))
    drawn = members.sampling.rows(members.seed, 0)
    count = np.bincount(leaf, drawn, tree.node_count)
    once = np.bincount(leaf, drawn > 0, tree.node_count)
    there = tree.n_node_samples[tree.is_leaf]
    return any(np.array_equal(one[tree.is_leaf], there) for one in (count, once))


def _out_of_bag(model: Any, rows: TableRows) -> Honest | None:
    if not isinstance(model, DrawingEnsemble) or model._combination not in ("mean", "votes"):
        return None
    members = model._members
    if members.sampling is None or not members.sampling.draws_rows:
        return None
    if getattr(model, "_weights", None) is not None or not saw_these_rows(model, rows):
        return None
    labels, costs = rows.labels, getattr(model, "_costs", None)
    watch = OutOfBag(
        rows.y[:, None],
        1 if labels is None else len(labels),
        classes=None if labels is None else [labels],
        present=members.sampling.present,
        vote=model._combination == "votes",
        costs=costs,
    )
    watch.follow(members, members.read(model, rows.table), len(members), model._jobs())
    answered = watch.answered > 0
    if members.sampling.present is not None:
        answered &= members.sampling.present
    if np.count_nonzero(answered) < 2:
        return None
    said = watch.prediction[answered, 0]
    if labels is None:
        answer = chosen = said[:, 0]
    else:
        answer = said
        chosen = said.argmax(axis=1) if costs is None else (said @ costs).argmin(axis=1)
    words = (
        f"Out-of-bag predictions: each of {len(answer)} rows is predicted by the members that did "
        "not draw it."
    )
    return Honest(
        "out-of-bag", words, rows.y[answered], answer, chosen, np.array(watch.error_curve)
    )


# --- cross-validation ----------------------------------------------------------------------------


def _cross_validated(model: Any, rows: TableRows, seed: int) -> Honest:
    some = rows.some(ROWS, seed)
    part = rows if len(some) == len(rows) else rows.take(some)
    began = time.monotonic()
    folds: list[Fold] = []
    parts: list[tuple[npt.NDArray[Any], FloatArray, npt.NDArray[Any]]] = []
    splits = list(_splits(part, seed))
    for train, test in splits:
        learned, held = part.take(train), part.take(test)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the user has seen them in the fit
            copy = fit_member(clone(model), learned.table, learned.target)
        folds.append(Fold(copy, held))
        parts.append((held.y, *answers(copy, held.table, held.labels)))
        if (time.monotonic() - began) * (1 + 1 / len(folds)) > SECONDS:
            break
    y, answer, chosen = (np.concatenate([each[k] for each in parts]) for k in range(3))
    of = f", {len(folds)} of them for want of time" if len(folds) < len(splits) else ""
    sample = f" of a random part of the {len(rows)} rows" if len(part) < len(rows) else ""
    words = (
        f"Cross-validation: {len(y)} rows{sample} are predicted by copies of the model that were "
        f"fitted without them ({len(splits)} folds{of})."
    )
    return Honest("cross-validation", words, y, answer, chosen, folds=tuple(folds))


def _splits(rows: TableRows, seed: int) -> Iterator[tuple[IntArray, IntArray]]:
    n = min(FOLDS, len(rows))
    if n < 2:
        raise ValueError("A report needs at least two rows: there is nothing to compare.")
    if rows.labels is None or np.bincount(rows.y)[np.unique(rows.y)].min() < n:
        yield from KFold(n, shuffle=True, random_state=seed).split(rows.X)
    else:
        folds = StratifiedKFold(n, shuffle=True, random_state=seed)
        yield from folds.split(rows.X, rows.y)
