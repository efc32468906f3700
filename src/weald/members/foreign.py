"""Members of any kind: estimators of other libraries, fitted and asked as they are.

weald's own trees are grown all together by the engine. Everything else is cloned, seeded, given its
rows and columns of the user's own table, and fitted by joblib. As in scikit-learn, classifiers are
fitted to class codes, since some of them take nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt
from joblib import effective_n_jobs
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils.metadata_routing import _routing_enabled, get_routing_for_object
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import _check_method_params, has_fit_parameter

from weald import combining
from weald._engine import FloatArray, check_n_jobs
from weald.input.raw_table import column_names, take_columns, take_rows
from weald.members.side_by_side import side_by_side
from weald.params.columns import Columns as ColumnNames

__all__ = [
    "Counts",
    "check_member",
    "fit_member",
    "fit_members",
    "make_member",
    "member_decisions",
    "member_finite_values",
    "member_log_shares",
    "member_shares",
    "member_values",
    "spread",
    "stream",
    "takes_weights",
]

Columns = npt.NDArray[np.int64] | None  # of a member; None: all
Counts = npt.NDArray[np.uint32] | None  # how often each row counts; None: once

_AHEAD = 4  # members per thread that may wait to be summed up
_SLACK = 1e-6  # by which rounding may take a share out of its range


def check_member(estimator: Any) -> Any:
    """Refuse what cannot be a member; the estimator itself."""
    for method in ("fit", "predict", "get_params"):
        if isinstance(estimator, type) or not hasattr(estimator, method):
            raise ValueError(
                "estimator must be None or an estimator object with fit and predict, got "
                f"{estimator!r}."
            )
    return estimator


def make_member(
    estimator: Any,
    seed: int,
    parameters: dict[str, Any] | None = None,
    classes: npt.NDArray[Any] | None = None,
) -> Any:
    """An unfitted copy with other parameters, for its own seed and for class codes.

    Its random states, nested ones too, come from the seed. The keys of a `class_weight`, which are
    labels as everywhere in weald, become codes.
    """
    member = clone(estimator)
    if parameters:
        member.set_params(**clone(parameters, safe=False))
    numbers = np.random.RandomState(seed)
    own: dict[str, Any] = {}
    for name, value in sorted(member.get_params(deep=True).items()):
        last = name.rpartition("__")[2]
        if last == "random_state":
            own[name] = int(numbers.randint(np.iinfo(np.int32).max))
        elif last == "class_weight" and isinstance(value, dict) and classes is not None:
            own[name] = _by_code(value, classes, name)
    return member.set_params(**own) if own else member


def _by_code(weights: dict[Any, Any], classes: npt.NDArray[Any], name: str) -> dict[int, Any]:
    """Class weights keyed by code instead of label; as in scikit-learn some may be absent."""
    labels = classes.tolist()
    found = {code: weights[label] for code, label in enumerate(labels) if label in weights}
    strange = [label for label in weights if label not in labels]
    if strange and len(found) < len(labels):
        raise ValueError(
            f"{name} of the estimator weighs {strange[0]!r}, which is no label of y: its keys are "
            f"labels, here {', '.join(map(repr, labels[:3]))}{', ...' if labels[3:] else ''}."
        )
    return found


def takes_weights(estimator: Any, *, routed: bool = True) -> bool:
    """Whether ``fit`` of the estimator takes row weights.

    Parameters
    ----------
    estimator : the member
    routed : bool
        Weights are metadata that must be asked for, if routing is on. Those of boosting are not:
        a member gets them whatever was asked for.
    """
    if _routing_enabled() and get_routing_for_object(estimator).consumes("fit", ("sample_weight",)):
        return True
    if _routing_enabled() and routed:
        return False
    return bool(has_fit_parameter(estimator, "sample_weight"))


def fit_members(
    jobs: Iterable[tuple[Any, Counts, Columns]],
    X: Any,
    y: npt.NDArray[Any],
    weights: FloatArray | None,
    fit_params: dict[str, Any],
    n_jobs: int | None,
) -> list[Any]:
    """Fit members at the same time.

    Parameters
    ----------
    jobs : of (unfitted member, how often each row counts, columns)
    X, y, weights, fit_params : see :func:`fit_member`
    n_jobs : int, optional
        As in joblib.
    """
    fit = partial(fit_member, X=X, y=y, weights=weights, fit_params=fit_params)
    todo = (partial(fit, member, counts=counts, columns=used) for member, counts, used in jobs)
    return side_by_side(todo, n_jobs)


def fit_member(
    member: Any,
    X: Any,
    y: npt.NDArray[Any],
    weights: FloatArray | None = None,
    *,
    counts: Counts = None,
    columns: Columns = None,
    fit_params: dict[str, Any] | None = None,
    routed: bool = True,
) -> Any:
    """Fit one member, its rows given by weight if it takes weights, else one by one.

    Of a pipeline the last step gets the weights, if no rows are drawn.

    Parameters
    ----------
    member : estimator
        Is returned, whatever its ``fit`` returns.
    X, y : the table as the user gave it, class codes or numbers
    weights : array of shape (n,), optional
        What rows weigh.
    counts : array of shape (n,), optional
        How often each row was drawn; default: once.
    columns : array, optional
        What it sees; default: all.
    fit_params : dict, optional
        What else goes to ``fit``; cut to the rows of the member where it has one entry per row.
    routed : see :func:`takes_weights`
    """
    part = X if columns is None else take_columns(X, columns)
    if part is not X:
        _narrow(member, X, columns)
    params = fit_params or {}
    if counts is None and weights is None:
        _fit(member, part, y, params)
    elif takes_weights(member, routed=routed):
        given: Any = weights if counts is None else counts.astype(np.float64)
        if counts is not None and weights is not None:
            given = given * weights
        _fit(member, part, y, {**params, "sample_weight": given})
    elif counts is None and _last_step_takes_weights(member, routed):
        _fit(member, part, y, {**params, _ask_for_weights(member): weights})
    else:
        rows = np.repeat(np.arange(len(y)), _repeats(member, counts, weights))
        params = _check_method_params(X, params=params, indices=rows)
        _fit(member, take_rows(part, rows), y[rows], params)
    return member


def _narrow(member: Any, X: Any, columns: Any) -> None:
    """Make parameters of weald's estimators that name columns of X fit for the drawn ones."""
    if type(member).__module__.partition(".")[0] == "weald":
        whole = ColumnNames(np.zeros(X.shape[1], dtype=bool), column_names(X))
        member.set_params(**whole.narrowed(member.get_params(deep=False), columns))


def _last_step_takes_weights(member: Any, routed: bool) -> bool:
    if not isinstance(member, Pipeline) or (_routing_enabled() and routed):
        return False
    return bool(has_fit_parameter(member[-1], "sample_weight"))


def _ask_for_weights(pipeline: Pipeline) -> str:
    """Under which name a pipeline hands weights to its last step."""
    if not _routing_enabled():
        return f"{pipeline.steps[-1][0]}__sample_weight"
    pipeline[-1].set_fit_request(sample_weight=True)
    return "sample_weight"


def _fit(member: Any, X: Any, y: npt.NDArray[Any], params: dict[str, Any]) -> None:
    try:
        member.fit(X, y, **params)
    except TypeError as error:
        if "unexpected keyword argument 'sample_weight'" not in str(error):
            raise
        name = type(member).__name__
        raise TypeError(f"Underlying estimator {name} does not support sample weights.") from error


def _repeats(member: Any, counts: Counts, weights: FloatArray | None) -> npt.NDArray[np.intp]:
    """How often each row is given to a member that knows no weights."""
    if weights is None:
        assert counts is not None
        return counts.astype(np.intp)
    if (weights != np.floor(weights)).any():
        if len(np.unique(weights[weights > 0])) > 1:
            raise ValueError(
                f"{type(member).__name__} takes no sample_weight, and rows cannot be given to it "
                "a fraction of a time: use whole weights, a member that takes weights, or bagging "
                "with bootstrap=True and without groups, which draws rows by weight."
            )
        weights = (weights > 0).astype(np.float64)  # equal weights say no more than that
    repeats = weights if counts is None else weights * counts
    return repeats.astype(np.intp)


# --- asking ---------------------------------------------------------------------------------------


def stream(
    ask: Callable[..., FloatArray],
    members: Sequence[Any],
    columns: Iterable[Columns],
    X: Any,
    n_jobs: int | None,
    **settings: Any,
) -> Iterator[FloatArray]:
    """What each member says, in the order of the members, so that sums have the same bits always.

    Only a few answers are held at a time. Threads, because members need not be copied to them.
    """
    at_once = min(effective_n_jobs(check_n_jobs(n_jobs)), len(members))
    todo = zip(members, columns, strict=True)
    if at_once == 1:
        for member, used in todo:
            yield ask(member, X if used is None else take_columns(X, used), **settings)
        return
    with Parallel(n_jobs=at_once, prefer="threads") as pool:
        while block := list(islice(todo, at_once * _AHEAD)):
            yield from pool(
                delayed(ask)(member, X if used is None else take_columns(X, used), **settings)
                for member, used in block
            )


def member_values(member: Any, X: Any, *, params: dict[str, Any] | None = None) -> FloatArray:
    """Numbers a member predicts."""
    return np.asarray(member.predict(X, **(params or {})), dtype=np.float64)


def member_finite_values(
    member: Any, X: Any, *, params: dict[str, Any] | None = None
) -> FloatArray:
    """As `member_values`, but refuses anything other than one finite number per row."""
    said = member_values(member, X, params=params)
    n = X.shape[0]
    if said.size != n or not np.isfinite(said).all():
        raise _strange(
            member,
            "something that is not finite" if said.size == n else f"an array of {said.shape}",
            f"{n} finite numbers were expected, one for each row",
        )
    return said.reshape(n)


def member_shares(
    member: Any,
    X: Any,
    *,
    n_classes: int,
    vote: bool,
    params: dict[str, Any] | None = None,
) -> FloatArray:
    """Class shares (n, n_classes) of a member that was fitted to class codes.

    With `vote`, or if it gives no shares, 1 for the class it predicts and 0 for the others.
    """
    params = params or {}
    if not hasattr(member, "predict_proba") or vote:
        return combining.ballots(_member_codes(member, X, n_classes, params), n_classes)
    shares = np.asarray(member.predict_proba(X, **params), dtype=np.float64)
    wanted = f"shares between 0 and 1 of its {len(member.classes_)} classes were expected"
    if shares.shape != (X.shape[0], len(member.classes_)):
        raise _strange(member, f"shares in an array of {shares.shape}", wanted)
    if not ((shares >= -_SLACK) & (shares <= 1 + _SLACK)).all():
        row = int((~((shares >= -_SLACK) & (shares <= 1 + _SLACK))).any(axis=1).argmax())
        raise _strange(member, f"the shares {shares[row].tolist()} in row {row}", wanted)
    return spread(shares, member, n_classes, 0.0)


def _member_codes(
    member: Any, X: Any, n_classes: int, params: dict[str, Any]
) -> npt.NDArray[np.intp]:
    """The class codes a member predicts, which must be some of those it was fitted to."""
    said = np.asarray(member.predict(X, **params))
    n = X.shape[0]
    wanted = f"one of the class codes 0 to {n_classes - 1} was expected for each of the {n} rows"
    if said.size != n:
        raise _strange(member, f"an array of {said.shape}", wanted)
    said = said.reshape(n)
    good = np.zeros(n, dtype=bool)
    if said.dtype.kind in "biuf":
        good = (said >= 0) & (said < n_classes) & (said % 1 == 0)
    if not good.all():
        raise _strange(member, repr(said[int((~good).argmax())].item()), wanted)
    return said.astype(np.intp)


def _strange(member: Any, said: str, wanted: str) -> ValueError:
    return ValueError(f"A {type(member).__name__} as member predicts {said}: {wanted}.")


def member_log_shares(
    member: Any, X: Any, *, n_classes: int, params: dict[str, Any] | None = None
) -> FloatArray:
    """Logarithms of the class shares of a member that gives them."""
    with np.errstate(divide="ignore"):  # the logarithm of no share at all is -inf
        logs = np.asarray(member.predict_log_proba(X, **(params or {})), dtype=np.float64)
    return spread(logs, member, n_classes, -np.inf)


def member_decisions(
    member: Any, X: Any, *, n_classes: int, params: dict[str, Any] | None = None
) -> FloatArray:
    """Decision function of a member."""
    if len(getattr(member, "classes_", range(n_classes))) != n_classes:
        raise ValueError(
            f"A {type(member).__name__} was drawn rows of {len(member.classes_)} of the "
            f"{n_classes} classes only, so the decision functions cannot be averaged: use "
            "predict_proba, or draw more rows."
        )
    return np.asarray(member.decision_function(X, **(params or {})), dtype=np.float64)


def spread(
    values: FloatArray,
    member: Any,
    n_classes: int,
    absent: float,
    labels: npt.NDArray[Any] | None = None,
) -> FloatArray:
    """Put the columns of a member where its classes are: its rows may have lacked some.

    It was fitted to codes, or to these labels, which are in order.
    """
    if values.shape[1] == n_classes:
        return values
    own = member.classes_ if labels is None else np.searchsorted(labels, member.classes_)
    wide = np.full((len(values), n_classes), absent)
    wide[:, np.asarray(own, dtype=np.intp)] = values
    return wide
