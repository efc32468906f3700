"""Train one tree and cross-validate it."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.cli.errors import UserError
from weald.cli.loading import Table, Task, suggestion
from weald.params.criteria import CLASSIFICATION_CRITERIA, REGRESSION_CRITERIA

CRITERIA: dict[Task, tuple[str, ...]] = {
    "classification": tuple(CLASSIFICATION_CRITERIA),
    "regression": tuple(REGRESSION_CRITERIA),
}


@dataclass(frozen=True)
class Score:
    """One measure over the folds of a cross-validation."""

    name: str
    folds: tuple[float, ...]

    @property
    def mean(self) -> float:
        """Mean over the folds."""
        return float(np.mean(self.folds))

    @property
    def sd(self) -> float:
        """Standard deviation between the folds."""
        return float(np.std(self.folds, ddof=1))


@dataclass(frozen=True)
class Outcome:
    """A fitted tree with its cross-validated scores."""

    table: Table
    task: Task
    model: Any
    scores: tuple[Score, ...]
    """Empty if cross-validation was switched off."""
    notes: tuple[str, ...]


def train(
    table: Table,
    task: Task,
    parameters: dict[str, Any],
    n_folds: int,
    seed: int,
    step: Callable[[str], None] = lambda done: None,
) -> Outcome:
    """Fit the tree on all rows, then score it on `n_folds` folds (none if 0).

    `step` hears of each finished fit, for a progress display.
    """
    _check_criterion(parameters.get("criterion"), task)
    y = table.y if task == "classification" else _numbers(table)
    splits, notes = _folds(y, table, task, n_folds, seed)
    model = _fit(_new_tree(task, parameters, seed), table.X, y, table.weight)
    step("tree")
    results: list[dict[str, float]] = []
    for fold, (train_rows, test_rows) in enumerate(splits, start=1):
        member = _fit(
            _new_tree(task, parameters, seed),
            table.rows(train_rows),
            y[train_rows],
            None if table.weight is None else table.weight[train_rows],
        )
        measure = _class_scores if task == "classification" else _number_scores
        weight = None if table.weight is None else table.weight[test_rows]
        if weight is not None and not weight.any():
            raise UserError(f"All rows of fold {fold} have weight 0; use fewer folds, or --cv 0.")
        results.append(measure(member, table.rows(test_rows), y, test_rows, weight))
        step(f"fold {fold}")
    names = list(results[0]) if results else []
    scores = tuple(Score(name, tuple(result[name] for result in results)) for name in names)
    return Outcome(table, task, model, scores, tuple(notes))


def _new_tree(task: Task, parameters: dict[str, Any], seed: int) -> Any:
    import weald

    kinds: dict[Task, Any] = {
        "classification": weald.DecisionTreeClassifier,
        "regression": weald.DecisionTreeRegressor,
    }
    given = {name: value for name, value in parameters.items() if value is not None}
    return kinds[task](random_state=seed, **given)


def _fit(model: Any, X: Any, y: NDArray[Any], weight: NDArray[np.float64] | None) -> Any:
    try:
        return model.fit(X, y, sample_weight=weight)
    except (ValueError, TypeError) as error:  # the estimators tell in a sentence what is wrong
        raise UserError(str(error)) from error


def _check_criterion(criterion: str | None, task: Task) -> None:
    choices = CRITERIA[task]
    if criterion is not None and criterion not in choices:
        raise UserError(
            f"--criterion {criterion!r} does not fit {task}: use one of {', '.join(choices)}."
            f"{suggestion(criterion, choices)}"
        )


def _numbers(table: Table) -> NDArray[np.float64]:
    try:
        y = table.y.astype(np.float64)
    except ValueError as error:
        raise UserError(
            f"The target {table.target!r} holds text, so it cannot be a regression; "
            "use --task classification."
        ) from error
    if not np.all(np.isfinite(y)):
        raise UserError(f"The target {table.target!r} must hold finite numbers.")
    return y


def _folds(
    y: NDArray[Any], table: Table, task: Task, n_folds: int, seed: int
) -> tuple[list[tuple[NDArray[np.intp], NDArray[np.intp]]], list[str]]:
    from sklearn.model_selection import KFold, StratifiedKFold

    notes: list[str] = []
    if n_folds == 0:
        return [], notes
    if n_folds == 1:
        raise UserError("--cv needs at least 2 folds, or 0 for no cross-validation.")
    if table.n_rows < 2 * n_folds:
        raise UserError(
            f"--cv {n_folds} needs at least {2 * n_folds} rows and there are {table.n_rows}; "
            "use fewer folds, or --cv 0."
        )
    splitter: Any = KFold(n_folds, shuffle=True, random_state=seed)
    if task == "classification":
        labels, counts = np.unique(y, return_counts=True)
        if counts.max() < n_folds:
            raise UserError(
                f"No class of {table.target!r} has {n_folds} rows, one for each fold; use a "
                "smaller --cv, or --task regression if the target is a quantity."
            )
        rare = [str(label) for label in labels[counts < n_folds]]
        if rare:
            shown = ", ".join(rare[:5]) + (f", +{len(rare) - 5} more" if len(rare) > 5 else "")
            notes.append(f"Classes with fewer rows than the {n_folds} folds: {shown}.")
        splitter = StratifiedKFold(n_folds, shuffle=True, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # rare classes are told in the notes
        return list(splitter.split(np.zeros((len(y), 1)), y)), notes


def _class_scores(
    model: Any,
    X: Any,
    y: NDArray[Any],
    rows: NDArray[np.intp],
    weight: NDArray[np.float64] | None,
) -> dict[str, float]:
    """Accuracy, and log loss over all classes, also those the fold was trained without."""
    from sklearn.metrics import accuracy_score, log_loss

    labels = np.unique(y)
    accuracy = float(accuracy_score(y[rows], model.predict(X), sample_weight=weight))
    if len(labels) < 2:
        return {"accuracy": accuracy}
    shares = np.zeros((len(rows), len(labels)))
    shares[:, np.searchsorted(labels, model.classes_)] = model.predict_proba(X)
    return {
        "accuracy": accuracy,
        "log loss": float(log_loss(y[rows], shares, labels=labels, sample_weight=weight)),
    }


def _number_scores(
    model: Any,
    X: Any,
    y: NDArray[Any],
    rows: NDArray[np.intp],
    weight: NDArray[np.float64] | None,
) -> dict[str, float]:
    from sklearn.metrics import r2_score, root_mean_squared_error

    guess = model.predict(X)
    return {
        "R2": float(r2_score(y[rows], guess, sample_weight=weight)),
        "RMSE": float(root_mean_squared_error(y[rows], guess, sample_weight=weight)),
    }


def importances(outcome: Outcome) -> Iterator[tuple[str, float]]:
    """Columns with their importance, the largest first."""
    shares = np.asarray(outcome.model.feature_importances_, dtype=np.float64)
    for j in np.argsort(-shares, kind="stable").tolist():
        yield outcome.table.names[j], float(shares[j])
