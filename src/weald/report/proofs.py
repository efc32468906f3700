"""What theory proves about the model, where it applies."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

from sklearn.base import is_classifier

from weald.members.ensemble import Ensemble
from weald.report.table_rows import TableRows
from weald.theory import Certificate, Margins, certificate, margins

__all__ = ["Proofs", "proofs_of"]

_CELLS = 20_000_000  # rows x members up to which all rows are used
_MARGIN_ROWS = 1_000  # the best minimum margin is a linear program
_MARGIN_MEMBERS = 500


@dataclass(frozen=True, eq=False)
class Proofs:
    """What theory says; None where it says nothing."""

    certificate: Certificate | None
    margins: Margins | None
    margin_words: str


def proofs_of(model: Any, rows: TableRows, seed: int = 0) -> Proofs:
    """Ask the theory.

    Parameters
    ----------
    model : fitted estimator
    rows : TableRows
    seed : int
        For the rows whose margins are shown.
    """
    if not isinstance(model, Ensemble) or not is_classifier(model) or len(model) < 2:
        return Proofs(None, None, "")
    size = len(rows) * len(model)
    proof = _asked(certificate, model, rows) if size <= _CELLS else None
    if len(model) > _MARGIN_MEMBERS:
        return Proofs(proof, None, "")
    some = rows.some(_MARGIN_ROWS, seed)
    part = rows if len(some) == len(rows) else rows.take(some)
    found = _asked(margins, model, part)
    words = f" Shown for {len(part)} of {len(rows)} rows." if len(part) < len(rows) else ""
    return Proofs(proof, found, words)


def _asked(question: Any, model: Any, rows: TableRows) -> Any:
    """The answer; None if the theory does not apply to such a model."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return question(model, rows.table, rows.target)
    except (TypeError, ValueError, AttributeError):
        return None
