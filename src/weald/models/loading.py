"""From a file to a model."""

from __future__ import annotations

import os
from typing import Any

from weald.models.container import Contents, open_container
from weald.models.decoding import Decoder
from weald.models.errors import ModelFileError, require
from weald.models.saving import n_members
from weald.models.trial import Trial, is_row

__all__ = ["load"]

# What comes of parts that do not fit together.
_FAILURES = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    NotImplementedError,
    RecursionError,
    RuntimeError,
    TypeError,
    ValueError,
)


def load(path: str | os.PathLike[str]) -> Any:
    """Load a model that `weald.save` has written.

    Nothing in the file is run, and everything is checked: a file that is damaged, or was made to do
    harm, is refused.

    Parameters
    ----------
    path : path

    Returns
    -------
    estimator
        It predicts the same, bit for bit.

    Raises
    ------
    ModelFileError
        If the file does not hold a valid model.
    """
    contents = open_container(path)
    try:
        return _model(contents)
    except ModelFileError:
        raise
    except _FAILURES as error:
        said = " ".join(str(error).split())
        reason = said if said.startswith("Not a valid") else "its parts do not fit together."
        raise ModelFileError(_lowered(reason)) from error


def _model(contents: Contents) -> Any:
    document = contents.document
    decoder = Decoder(contents.arrays, document.get("values"))
    model = decoder.build(document.get("objects"))
    require(document["class"] == document["objects"][-1].get("class"), "its class")
    require(document.get("members") == n_members(model), "the number of its members")
    row, named = document["row"], document.get("named", False)
    require(isinstance(named, bool), "its row of a trial")
    trial = Trial(model, decoder.built, named=named)
    if row is not None:
        row = decoder.value(row)
        require(is_row(row, model.n_features_in_), "its row of a trial")
        wrong = trial.fault_of(row) if trial.possible else None
        if wrong is not None:
            raise ModelFileError(f"Not a valid model file: the model does not work, {wrong}.")
    # A model that cannot be tried as a whole, since it is about dates for example, is in parts.
    failed = trial.failures(by_parts=row is None) - set(document.get("failures", []))
    if failed:
        said = f"the model does not work, a prediction fails with {min(failed)}"
        raise ModelFileError(f"Not a valid model file: {said}.")
    return model


def _lowered(reason: str) -> str:
    """One sentence about a file, whatever part of it a check was about."""
    if reason.startswith("Not a valid model file"):
        return reason
    return f"Not a valid model file: {reason[0].lower()}{reason[1:]}"
