"""What theory proves about the model, where it applies."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import is_classifier

from weald.members.ensemble import Ensemble
from weald.report.table_rows import TableRows
from weald.theory import Certificate, Margins, certificate, margins

__all__ = ["Proofs", "proofs_of"]

_CELLS = 4_000_000  # rows x members up to which the certificate is worked out
_MARGIN_ROWS = 1_000  # the best minimum margin is a linear program
_MARGIN_MEMBERS = 500


@dataclass(frozen=True, eq=False)
class Proofs:
    """What theory says; None where it says nothing."""

    certificate: Certificate | None
    margins: Margins | None
    words: tuple[str, ...] = ()
    """What was left out, or looked at in part."""


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
        return Proofs(None, None)
    proof, found, words = None, None, []
    if len(rows) * len(model) <= _CELLS:
        proof = _asked(certificate, model, rows)
    elif hasattr(model, "normalizers_"):
        bound = float(np.prod(model.normalizers_))
        words.append(
            "There are too many rows and rounds to work out the certificate here. The normalizers "
            f"that the fit noted prove that the training error is at most {min(bound, 1.0):.4g}."
        )
    if len(model) <= _MARGIN_MEMBERS:
        some = rows.some(_MARGIN_ROWS, seed)
        part = rows if len(some) == len(rows) else rows.take(some)
        found = _asked(margins, model, part)
        if found is not None and len(part) < len(rows):
            words.append(f"Margins are shown of {len(part)} of the {len(rows)} rows.")
    return Proofs(proof, found, tuple(words))


def _asked(question: Any, model: Any, rows: TableRows) -> Any:
    """The answer; None if the theory does not apply to such a model."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return question(model, rows.table, rows.target)
    except (TypeError, ValueError, AttributeError):
        return None
