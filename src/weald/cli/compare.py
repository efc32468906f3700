"""Compare methods by cross-validation in a given time, and fit the best one to all rows."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from time import monotonic
from typing import Any

import numpy as np
import numpy.typing as npt

from weald import _engine as engine
from weald.cli.errors import OutOfTime, UserError
from weald.cli.limits import REFIT, FitLimit, can_end, limited
from weald.cli.methods import Method, Settings, make
from weald.cli.metrics import Metric, main_metrics
from weald.crossfit.fits import Candidate, CandidateFits, drive_fits
from weald.crossfit.folds import Fold, make_folds
from weald.crossfit.level_one import fold_jobs, level_one
from weald.crossfit.risk_table import risk_table
from weald.dataset import Training
from weald.dataset.errors import first_line, named
from weald.fitting.progress import live_bar
from weald.input.fit_data import FitData
from weald.members.foreign import spread
from weald.params.warnings import NearUniqueWarning, SharedBinsWarning

__all__ = ["Comparison", "Entry", "Prepared", "compare", "fit_best", "heard", "prepare"]


@dataclass(frozen=True)
class Entry:
    """A line of the leaderboard.

    Attributes
    ----------
    method : str
    score, standard_error : float
        Mean over the folds; its standard error is that of a mean over rows where the metric is
        one, else that of the mean over folds.
    folds : tuple of float
    beside : float
        Mean over the folds of a second metric.
    seconds : float
        All fits on folds together.
    cut : bool
        Fits were ended by the time limit, with fewer members than asked for.
    """

    method: str
    score: float
    standard_error: float
    folds: tuple[float, ...]
    beside: float
    seconds: float
    cut: bool


@dataclass(frozen=True, eq=False)
class Comparison:
    """What a comparison found.

    Attributes
    ----------
    metric, beside : Metric
    entries : list of Entry
        The best first.
    missing : dict
        Methods without a score, and why.
    n_folds : int
    interrupted : bool
        Ctrl-C ended it.
    """

    metric: Metric
    beside: Metric
    entries: list[Entry]
    missing: dict[str, str]
    n_folds: int
    interrupted: bool


@dataclass(frozen=True, eq=False)
class Prepared:
    """What all methods are fitted to."""

    training: Training
    data: FitData
    classes: npt.NDArray[Any] | None
    codes: npt.NDArray[Any]
    folds: list[Fold]
    fit_params: dict[str, Any]
    notes: tuple[str, ...]


def compare(
    task: Prepared,
    methods: list[Method],
    settings: Settings,
    metric: Metric,
    *,
    seed: int,
    n_jobs: int | None,
    deadline: float,
    verbose: bool,
) -> Comparison:
    """Cross-validate the methods one after another.

    Parameters
    ----------
    task : Prepared
    methods : list of Method
    settings : dict
        Parameters that the user gave.
    metric : Metric
    seed : int
    n_jobs : int, optional
        Threads; default: all cores.
    deadline : float
        When the best method should be fitted to all rows, by `time.monotonic`.
    verbose : bool
        Show a bar.
    """
    training, n_folds = task.training, len(task.folds)
    first, second = main_metrics(training.recipe.task)
    beside = second if metric.name == first.name else first
    entries: list[Entry] = []
    missing: dict[str, str] = {}
    longest = 0.0
    interrupted = False
    for k, method in enumerate(methods):
        threads = 1 if "time_limit" in _params(method, training) else engine.resolve_threads(n_jobs)
        turns = -(-n_folds // threads)
        left, shares = deadline - monotonic(), sum(one.share for one in methods[k:]) / method.share
        seconds = min((left - REFIT * longest) / shares, left / (shares + REFIT / turns)) / turns
        if entries and seconds <= 0:
            missing[method.name] = "no time left"
            continue
        limit = FitLimit(
            deadline - REFIT * longest,
            max(seconds, 0.05),
            can_end=can_end(_params(method, training)),
            must=not entries,
        )
        try:
            bar = f"{method.name} ({k + 1} of {len(methods)})"
            entry = _cross_validate(
                method, settings, task, (metric, beside), limit, threads, seed, bar * verbose
            )
        except KeyboardInterrupt:
            missing |= dict.fromkeys((one.name for one in methods[k:]), "stopped by Ctrl-C")
            interrupted = True
            break
        if isinstance(entry, str):
            missing[method.name] = entry
        else:
            entries.append(entry)
            longest = max(longest, entry.seconds / n_folds)
    if not entries:
        if interrupted:
            raise KeyboardInterrupt
        _nothing(missing)
    entries.sort(key=lambda one: -one.score if metric.higher else one.score)
    return Comparison(metric, beside, entries, missing, n_folds, interrupted)


def fit_best(
    training: Training, method: Method, settings: Settings, seed: int, seconds: float
) -> tuple[Any, bool]:
    """Fit a method to all rows, within some seconds; the model, and whether it was cut short."""
    model = make(method, training.recipe.task, seed, settings[method.name])
    given: dict[str, Any] = {}
    if training.groups is not None and "time_limit" in model.get_params(deep=False):
        given["groups"] = training.groups
    if training.weights is not None:
        given["sample_weight"] = training.weights
    with limited(model, seconds) as limit, _sentences():
        model.fit(training.X, training.y, **given)
    return model, limit.cut


def _cross_validate(
    method: Method,
    settings: Settings,
    task: Prepared,
    metrics: tuple[Metric, Metric],
    limit: FitLimit,
    threads: int,
    seed: int,
    bar_name: str,
) -> Entry | str:
    """The entry of a method, or why there is none."""
    kind = task.training.recipe.task
    candidate = Candidate(
        method.name,
        partial(make, method, kind, seed, settings[method.name]),
        partial(_said, task.classes),
        task.fit_params if "time_limit" in _params(method, task.training) else {},
    )
    with live_bar(len(task.folds), 0, int(bool(bar_name)), bar_name, transient=True) as bar:
        work = CandidateFits(
            [candidate],
            fold_jobs(0, task.folds),
            task.data,
            n_jobs=threads,
            strict=False,
            budget=limit,
            seed=seed,
            told=lambda t, fitted: bar.show(t + 1),
        )
        drive_fits(work, candidate.make(), verbose=0)
    if not work.complete(0):
        error = work.failed.get(0)
        if error is None or "time_limit" in str(error):
            return "no time left"
        return f"failed: {first_line(error).rstrip('.')}"
    level = level_one(work, [0], task.folds)
    y, w = task.codes[level.rows], task.data.filled_weights[level.rows]
    said = level.said[0].reshape(len(y), -1)
    groups = task.training.groups
    cluster = level.rows if groups is None else groups[level.rows].astype(np.intp)
    numbers = []
    for metric in metrics:
        try:
            risk = metric.make(task.codes, task.data.filled_weights, task.classes)
            _, errors, by_fold = risk_table(risk, [said], y, w, level.fold, cluster)
        except (ValueError, TypeError) as error:  # such as a deviance of negative numbers
            why = first_line(error).rstrip(".")
            return f"failed: --metric {metric.name} cannot be computed here: {why}"
        numbers.append((errors[0], by_fold[0]))
    (error_, by_fold), (_, second) = numbers
    scores = [metrics[0].score(float(one)) for one in by_fold]
    return Entry(
        method=method.name,
        score=float(np.mean(scores)),
        standard_error=float(error_),
        folds=tuple(scores),
        beside=metrics[1].score(float(np.mean(second))),
        seconds=sum(one.seconds for one in work.done.values()),
        cut=limit.cut,
    )


def prepare(training: Training, n_folds: int, seed: int) -> Prepared:
    """Rows and folds, the same for all methods."""
    from sklearn.model_selection import KFold, StratifiedKFold

    y, groups, notes = training.y, training.groups, []
    n = len(y)
    if n < 2 * n_folds:
        raise UserError(
            f"--cv {n_folds} needs at least {2 * n_folds} rows and there are {n}; use fewer folds."
        )
    if n and (y == y[0]).all():
        raise UserError(
            f"The target {training.recipe.target!r} is always {y[0]}: there is nothing to learn."
        )
    classes: npt.NDArray[Any] | None = None
    codes: npt.NDArray[Any] = y
    cv: Any = KFold(n_folds, shuffle=True, random_state=seed)
    if training.recipe.task == "classification":
        classes, codes, counts = np.unique(y, return_inverse=True, return_counts=True)
        if counts.max() < n_folds:
            raise UserError(
                f"No class of {training.recipe.target!r} has {n_folds} rows, one for each fold; "
                "use a smaller --cv, or --task regression if the target is a quantity."
            )
        rare = [str(label) for label in classes[counts < n_folds]]
        if rare:
            notes.append(f"Classes with fewer rows than the {n_folds} folds: {named(rare, 5)}.")
        cv = StratifiedKFold(n_folds, shuffle=True, random_state=seed)
    if groups is not None:
        cv = n_folds
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # rare classes are told in the notes
            folds = make_folds(cv, np.zeros((n, 1)), codes, groups, classes=classes is not None)
    except ValueError as error:
        raise UserError(str(error).replace("set a smaller cv", "use a smaller --cv")) from error
    data = FitData(X=training.X, y=y, weights=training.weights)
    fit_params = {} if groups is None else {"groups": groups}
    return Prepared(training, data, classes, codes, folds, fit_params, tuple(notes))


def _said(classes: npt.NDArray[Any] | None, model: Any, X: Any) -> npt.NDArray[np.float64]:
    """What a model says: numbers, or shares of all classes, of which its rows may lack some."""
    if classes is None:
        return np.asarray(model.predict(X), dtype=np.float64)
    return spread(model.predict_proba(X), model, len(classes), 0.0, classes)


def _params(method: Method, training: Training) -> dict[str, Any]:
    params: dict[str, Any] = make(method, training.recipe.task, 0).get_params(deep=False)
    return params


def _nothing(missing: dict[str, str]) -> None:
    """No method has a score: say why."""
    failed = [reason for reason in missing.values() if reason.startswith("failed: ")]
    if failed:
        raise UserError(f"{failed[0].removeprefix('failed: ')}.")
    raise OutOfTime("No method was done in time: give more --time, or name one quick --method.")


@contextmanager
def _sentences() -> Iterator[None]:
    """Turn what an estimator refuses, which it says in a sentence, into a user's error."""
    try:
        yield
    except (ValueError, TypeError) as error:
        kind = OutOfTime if "time_limit" in str(error) else UserError
        raise kind(first_line(error)) from error


@contextmanager
def heard(notes: list[str]) -> Iterator[None]:
    """Collect warnings of weald as notes, each once, and silence those of others.

    What depends on the rows of a fold is told once: that a column is near-unique was said when the
    file was read, and of columns with more categories than bins the last fit, to all rows, counts.
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.simplefilter("ignore", NearUniqueWarning)
        yield
    crowded: list[str] = []
    for one in caught:
        if "OOB" in str(one.message):  # of a forest in a super learner that had little time
            continue
        text = " ".join(str(one.message).split())
        if one.category is SharedBinsWarning:
            crowded = [text]
        elif one.category is UserWarning and "sklearn" not in str(one.filename):
            notes += [text] if text not in notes else []
    notes += crowded
