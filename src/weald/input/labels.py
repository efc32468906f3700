"""What comes beside the table: class labels as codes, regression targets and weights as floats."""

from __future__ import annotations

import numbers
from dataclasses import dataclass
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import DataConversionWarning

from weald.input.bad_values import infinite_values
from weald.input.columns import (
    Column,
    as_array,
    read_array,
    read_series,
    sort_labels,
)
from weald.params.warnings import warn_user

__all__ = [
    "Labels",
    "UnknownLabelError",
    "check_groups",
    "check_squares",
    "check_target",
    "check_weights",
    "encode_again",
    "encode_labels",
    "recode",
]


@dataclass(frozen=True, eq=False, slots=True)
class Labels:
    """Class labels as codes.

    Attributes
    ----------
    codes : ndarray of shape (n, n_outputs), int32, C-contiguous
        Positions in `classes`.
    classes : list of ndarray
        Per output the sorted labels that occur, in the type of the user's labels.
    multi_output : bool
        Whether the user gave more than one output.
    """

    codes: NDArray[np.int32]
    classes: list[NDArray[Any]]
    multi_output: bool


def encode_labels(y: Any, n: int) -> Labels:
    """Read class labels: text, integers, booleans, whole floats or categoricals.

    Parameters
    ----------
    y : array-like, series or data frame of shape (n,) or (n, n_outputs)
    n : int
        The number of rows of X.

    Raises
    ------
    ValueError, TypeError
        For missing labels, floats that are not whole, and values that are no labels.
    """
    outputs = _outputs(y, n)
    codes, classes = [], []
    for output, where in outputs:
        labels, code = _encode(output, where, compact=isinstance(y, list | tuple))
        codes.append(code)
        classes.append(labels)
        if n > 20 and len(labels) > max(2, round(0.5 * n)):
            warn_user(
                f"{where} has {len(labels)} classes in {n} rows: if it is a number to be predicted "
                "rather than a class, use a regressor."
            )
    one = len(outputs) == 1  # then no copy is needed
    matrix = codes[0].reshape(n, 1) if one else np.stack(codes, axis=1)
    return Labels(np.ascontiguousarray(matrix), classes, not one)


def encode_again(y: Any, n: int, classes: NDArray[Any]) -> NDArray[np.intp]:
    """Codes of further labels of one output, which must be among the classes there are."""
    labels = encode_labels(y, n)
    if labels.multi_output:
        raise ValueError("y should be a 1d array, one label per row.")
    return recode(labels.codes[:, 0], labels.classes[0], classes)


class UnknownLabelError(ValueError):
    """A label that was not there in fit."""

    def __init__(self, label: Any) -> None:
        super().__init__(f"there is the label {label!r}, which y in fit does not hold.")
        self.label = label


def recode(codes: NDArray[Any], seen: NDArray[Any], known: NDArray[Any]) -> NDArray[np.intp]:
    """Codes of labels as `known` numbers them, from those as `seen` does.

    Raises
    ------
    UnknownLabelError
        Some label is not among those known.
    """
    place = {label: code for code, label in enumerate(known.tolist())}
    lookup = []
    for label in seen.tolist():
        if label not in place:
            raise UnknownLabelError(label)
        lookup.append(place[label])
    recoded: NDArray[np.intp] = np.array(lookup, dtype=np.intp)[codes]
    return recoded


def check_target(y: Any, n: int) -> NDArray[np.float64]:
    """Read regression targets into a matrix of shape (n, n_outputs) of finite float64.

    Parameters
    ----------
    y : array-like, series or data frame of shape (n,) or (n, n_outputs)
        Numbers, or text that reads as numbers.
    n : int
        The number of rows of X.
    """
    outputs = _outputs(y, n)
    target = np.empty((n, len(outputs)), dtype=np.float64)
    for k, (output, where) in enumerate(outputs):
        target[:, k] = _numbers(_read(output, where, as_labels=False), where)
        if np.isnan(target[:, k]).any():
            raise _missing_values(where)
        if np.isinf(target[:, k]).any():
            raise infinite_values(where)
    return target


def check_single_target(
    y: Any,
    n: int,
    several: str = "y should be a 1d array, one number per row: fit a model per output.",
) -> NDArray[np.float64]:
    """Regression targets of one output, shape (n,); `several` is said if there are more."""
    target = check_target(y, n)
    if target.shape[1] > 1:
        raise ValueError(several)
    check_squares(target)
    return target[:, 0]


def check_squares(target: NDArray[np.float64]) -> None:
    """Refuse numbers whose squares may overflow in sums."""
    if np.abs(target).max(initial=0.0) > 1e100:
        raise ValueError("y holds numbers beyond 1e100, whose squares may overflow: rescale y.")


def check_weights(sample_weight: Any, n: int) -> NDArray[np.float64] | None:
    """Read the row weights: None, one number for all rows, or n numbers that are not negative.

    The result may be the user's own memory: never write to it.
    """
    if sample_weight is None:
        return None
    if isinstance(sample_weight, numbers.Number | np.bool_):
        sample_weight = np.full(n, sample_weight)
    if not isinstance(sample_weight, np.ndarray) and nw.dependencies.is_into_series(sample_weight):
        series = nw.from_native(sample_weight, series_only=True)
        shape: tuple[int, ...] = series.shape
        column = read_series(series, "sample_weight", exact=False)
    else:
        array = as_array(sample_weight, "sample_weight")
        shape = array.shape
        column = read_array(array.ravel(), "sample_weight", exact=False)
    if shape != (n,):
        raise ValueError(
            f"sample_weight must be a number or have shape ({n},), one weight per row of X, "
            f"not {shape}."
        )
    if column.labels is not None:
        raise ValueError("sample_weight holds text: convert it to numbers.")
    weights = np.ascontiguousarray(column.values, dtype=np.float64)
    for bad, what in (
        (np.isnan(weights), "NaN (a missing value)"),
        (np.isinf(weights), "infinity"),
        (weights < 0, "a negative weight"),
    ):
        if bad.any():
            raise ValueError(
                f"sample_weight contains {what} in row {bad.argmax()}: weights must be finite and "
                "not negative; use 0 to leave a row out."
            )
    if not weights.any():
        raise ValueError(
            "sample_weight is zero in every row: at least one weight must be positive."
        )
    with np.errstate(over="ignore"):
        total = weights.sum()
    if not 1e-100 <= total <= 1e100:  # their products with squares would leave the range of floats
        raise ValueError(
            f"sample_weight sums to {total:g}: multiply or divide all weights by a common number, "
            "so that the sum lies between 1e-100 and 1e100."
        )
    return weights


def check_groups(groups: Any, n: int) -> NDArray[np.int32]:
    """Read the group of each row, given by labels of any kind, as numbers from 0.

    Parameters
    ----------
    groups : array-like or series of shape (n,)
    n : int
        The number of rows of X.
    """
    values: NDArray[Any] | nw.Series[Any]
    if not isinstance(groups, np.ndarray) and nw.dependencies.is_into_series(groups):
        values = nw.from_native(groups, series_only=True)
    else:
        values = as_array(groups, "groups")
    if values.shape != (n,):
        raise ValueError(
            f"groups must have shape ({n},), one group per row of X, not {values.shape}."
        )
    column = _read(values, "groups", as_labels=True)
    if (column.values < 0).any():
        raise _missing_values("groups")
    return sort_labels(column, "groups")[1]


def _outputs(y: Any, n: int) -> list[tuple[NDArray[Any] | nw.Series[Any], str]]:
    """Cut the target into its outputs, each with its name in messages."""
    if y is None:
        raise ValueError("This estimator requires y to be passed, but the target y is None.")
    outputs: list[NDArray[Any] | nw.Series[Any]]
    if not isinstance(y, np.ndarray) and nw.dependencies.is_into_dataframe(y):
        frame = nw.from_native(nw.to_native(y, pass_through=True), eager_only=True)
        outputs, shape = list(frame.iter_columns()), frame.shape
    elif not isinstance(y, np.ndarray) and nw.dependencies.is_into_series(y):
        series = nw.from_native(y, series_only=True)
        outputs, shape = [series], series.shape
    else:
        array = as_array(y, "y")
        outputs, shape = list(np.atleast_2d(array.T)) if array.ndim in (1, 2) else [], array.shape
    if not outputs:
        raise ValueError(
            "y should be a 1d array with one target per row of X, or 2d with a column per output, "
            f"not {'a single value' if not shape else f'an array of shape {shape}'}."
        )
    if shape[0] != n:
        raise ValueError(f"y has {shape[0]} rows but X has {n}: pass one target per row of X.")
    if len(shape) == 2 and shape[1] == 1:
        warn_user(
            "A column-vector y was passed when a 1d array was expected; y.ravel() makes it one.",
            DataConversionWarning,
        )
    several = len(outputs) > 1
    return [(output, f"y (output {k})" if several else "y") for k, output in enumerate(outputs)]


def _read(output: NDArray[Any] | nw.Series[Any], where: str, *, as_labels: bool) -> Column:
    if isinstance(output, np.ndarray):
        return read_array(output, where, as_labels=as_labels, exact=False)
    return read_series(output, where, as_labels=as_labels, exact=False)


def _encode(
    output: NDArray[Any] | nw.Series[Any], where: str, *, compact: bool
) -> tuple[NDArray[Any], NDArray[np.int32]]:
    """Give the sorted classes of one output and the code of every row.

    `compact` stores text in NumPy's own text type, as befits labels that came in a list.
    """
    try:
        column = _read(output, where, as_labels=True)
    except TypeError as error:
        raise ValueError(f"Unknown label type: {error}") from error
    if (column.values < 0).any():
        raise _missing_values(where)
    classes, codes = sort_labels(column, where)
    if classes.dtype.kind == "f" and (classes != np.floor(classes)).any():
        raise ValueError(
            f"Unknown label type: continuous. {where} holds numbers that are not whole, so they "
            "are no classes: use a regressor, or cut them into intervals first."
        )
    if isinstance(output, nw.Series):
        dtype = getattr(output.to_native(), "dtype", None)
    else:
        dtype = output.dtype
    if isinstance(dtype, np.dtype) and dtype.kind in "biufU":
        classes = classes.astype(dtype)
    elif compact and classes.dtype == object and classes.astype(str).tolist() == classes.tolist():
        classes = classes.astype(str)
    return classes, codes


def _numbers(column: Column, where: str) -> NDArray[Any]:
    """Give the numbers of a column, reading text that means numbers."""
    if column.labels is None:
        return column.values
    try:
        parsed = [float(label) for label in column.labels]
    except ValueError as error:
        raise ValueError(
            f"{where} holds text that is not a number ({error}): convert it to numbers, or use a "
            "classifier."
        ) from error
    numbers_of_codes: NDArray[np.float64] = np.array([*parsed, np.nan])  # code -1 picks the NaN
    return numbers_of_codes.take(column.values)


def _missing_values(where: str) -> ValueError:
    return ValueError(
        f"{where} contains missing values (NaN, None or NA): remove these rows before fitting."
    )
