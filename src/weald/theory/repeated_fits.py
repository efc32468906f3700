"""Bias, variance and noise of estimators, by fitting them to many training sets."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from sklearn.base import is_classifier

from weald._engine import FloatArray
from weald.input.labels import check_target, encode_labels
from weald.input.raw_table import keep_X_fit, take_rows
from weald.members.foreign import check_member, fit_member, make_member
from weald.members.side_by_side import side_by_side
from weald.params.growth import check_choice, check_count, count_or_share, resolve_seed
from weald.theory.decomposition import LOSSES, squared_parts, zero_one_parts
from weald.theory.result import Result
from weald.tree import DecisionTreeClassifier

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["BiasVariance", "bias_variance"]

Rows = tuple[Any, npt.NDArray[Any]]  # a table and its targets

_WAYS = {
    "half": "half of the rows, drawn without replacement",
    "bootstrap": "as many rows as there are, drawn with replacement",
    "disjoint": "parts that share no row",
}


@dataclass(frozen=True, eq=False)
class BiasVariance(Result):
    """The parts of expected losses, with standard errors; from :func:`bias_variance`."""

    loss: str
    """"squared" or "zero_one"."""
    names: tuple[str, ...]
    """Of the estimators."""
    values: FloatArray
    """Shape (estimators, parts + 1): the terms of the identity, then the expected loss."""
    errors: FloatArray
    """Standard errors of the values."""
    n_repeats: int
    """Training sets."""
    n_train: int
    """Rows of each."""
    n_test: int
    """Rows that were predicted."""
    truth_known: bool
    """Whether noise is told from bias; if not, the noise is 0 and what it does is in the bias."""
    source: str
    """Where the training sets are from."""

    @property
    def parts(self) -> tuple[str, ...]:
        """Names of the terms of the identity."""
        return tuple(LOSSES[self.loss])

    def of(self, name: str) -> dict[str, float]:
        """The parts and the expected loss ("error") of one estimator."""
        if name not in self.names:
            raise KeyError(f"There is no estimator {name!r}: there are {', '.join(self.names)}.")
        row = self.values[self.names.index(name)]
        return dict(zip((*self.parts, "error"), row.tolist(), strict=True))

    def summary(self) -> str:
        """What the numbers mean, in plain words; also which of them say nothing."""
        lines = [
            f"{'Squared' if self.loss == 'squared' else '0/1'} loss over {self.n_repeats} training "
            f"sets of {self.n_train} rows ({self.source}), on {self.n_test} test rows."
        ]
        signs = LOSSES[self.loss]
        for name in self.names:
            found = self.of(name)
            terms = "".join(
                f" {'+' if signs[part] > 0 else '-'} {part} {found[part]:.4g}"
                for part in self.parts
            )
            lines.append(f"{name}: error {found['error']:.4g} ={terms.removeprefix(' +')}.")
        first = self.of(self.names[0])
        for name in self.names[1:]:
            found = self.of(name)
            change = ", ".join(_change(part, first, found) for part in ("bias", "variance"))
            lines.append(f"Against {self.names[0]}, {name} has {change}.")
        if not self.truth_known:
            lines.append(
                "The true function was not given, so noise counts as bias here: compare "
                "estimators, but do not read the bias by itself."
            )
        elif self.loss == "squared" and (self.values[:, 1] < 0).any():
            lines.append("A negative squared bias is one too small to be seen among the noise.")
        return "\n".join(lines)

    def columns(self) -> Mapping[str, Any]:
        """A row for each estimator."""
        columns: dict[str, Any] = {"estimator": list(self.names)}
        for k, part in enumerate((*self.parts, "error")):
            columns[part] = self.values[:, k]
            columns[f"{part}, standard error"] = self.errors[:, k]
        return columns

    def _draw(self, ax: Axes) -> None:
        from weald.theory.plots.complexity import draw_parts

        draw_parts(self, ax)


def bias_variance(
    estimators: Any,
    X: Any = None,
    y: Any = None,
    *,
    generator: Callable[[np.random.Generator, int], Rows] | None = None,
    truth: Callable[[Any], Any] | None = None,
    loss: str | None = None,
    n_repeats: int = 50,
    n_train: int = 200,
    test_size: float | int | None = None,
    resample: str = "half",
    n_jobs: int | None = None,
    random_state: Any = None,
) -> BiasVariance:
    """Split the expected loss of estimators into noise, bias and variance.

    All estimators are fitted to the same training sets, and predict the same test rows, so that
    what bagging or boosting changes stands out of the noise. The identities, exact in the numbers
    that are returned, are those of :mod:`weald.theory.decomposition`.

    Parameters
    ----------
    estimators : estimator, list, or dict of estimators by name
        All regressors or all classifiers.
    X, y : table and targets, optional
        A pool. Test rows are held out; training sets are drawn from the others.
    generator : callable(rng, n) -> (X, y), optional
        Makes n fresh rows, instead of a pool; `rng` is a :class:`numpy.random.Generator`.
    truth : callable(X), optional
        The expected target of rows, or class probabilities (n, K) in the order of the sorted
        labels. Without it noise cannot be told from bias, and is counted there.
    loss : "squared" or "zero_one", optional
        Default: zero_one for classifiers.
    n_repeats : int
        Training sets, at least 3.
    n_train : int
        Rows of a training set from a generator.
    test_size : int or float, optional
        Test rows: a number (default with a generator: 1000), or a share of a pool (default: 0.3).
    resample : "half", "bootstrap" or "disjoint"
        How training sets are drawn from a pool of m rows.

        * half: m/2 rows without replacement. The bias is that of m/2 rows; the variance is, for
          smooth predictions, that of m rows, as sets overlap.
        * bootstrap: m rows with replacement. The variance is estimated for m rows, but the sets
          hold only 63 % of the rows, and estimators that draw bootstrap samples draw twice.
        * disjoint: parts of m / n_repeats rows. Bias and variance are those of fresh sets of this
          size; it needs a large pool.
    n_jobs : int, optional
        Training sets at the same time, as in joblib. The result does not depend on it.
    random_state : int, optional

    Returns
    -------
    BiasVariance

    Examples
    --------
    >>> import numpy as np
    >>> from weald import BaggingRegressor, DecisionTreeRegressor
    >>> def wave(X):
    ...     return np.sin(6 * X[:, 0])
    >>> def draw(rng, n):
    ...     X = rng.random((n, 1))
    ...     return X, wave(X) + rng.normal(0, 0.5, n)
    >>> models = {"tree": DecisionTreeRegressor(), "bagged trees": BaggingRegressor()}
    >>> found = bias_variance(models, generator=draw, truth=wave, n_repeats=20, random_state=0)
    >>> found.of("bagged trees")["variance"] < 0.6 * found.of("tree")["variance"]
    True
    """
    named = _named(estimators)
    loss = _check_loss(loss, named)
    n_repeats = check_count("n_repeats", n_repeats, least=3)
    check_choice("resample", resample, tuple(_WAYS))
    seeds = np.random.SeedSequence(resolve_seed(random_state)).spawn(n_repeats + 1)
    first = np.random.default_rng(seeds[0])
    if generator is not None:
        if X is not None or y is not None:
            raise ValueError("Give either X and y or a generator, not both.")
        n_train = check_count("n_train", n_train, least=1)
        n_test = check_count("test_size", 1000 if test_size is None else test_size, least=1)
        test = _fresh(generator, first, n_test, loss)
        jobs: Iterator[Any] = ((generator, None, n_train) for _ in range(n_repeats))
        source = "fresh draws"
    else:
        if X is None or y is None:
            raise ValueError("Give X and y, or a generator of training sets.")
        pool = _read(X, y, loss)
        test_rows, parts = _draws(len(pool[1]), test_size, resample, n_repeats, first)
        test = take_rows(pool[0], test_rows), pool[1][test_rows]
        jobs = ((None, pool, part) for part in parts)
        n_train, source = len(parts[0]), _WAYS[resample]
    calls = (
        partial(_one_set, list(named.values()), job, seed, test[0], loss)
        for job, seed in zip(jobs, seeds[1:], strict=True)
    )
    said = side_by_side(calls, n_jobs)
    values, errors = _decompose(said, test, truth, loss)
    return BiasVariance(
        loss,
        tuple(named),
        values,
        errors,
        n_repeats,
        n_train,
        len(test[1]),
        truth is not None,
        source,
    )


# --- fits -----------------------------------------------------------------------------------------


def _one_set(
    estimators: list[Any], job: Any, seed: np.random.SeedSequence, X_test: Any, loss: str
) -> list[npt.NDArray[Any]]:
    """What each estimator says of the test rows after a fit to one training set."""
    random = np.random.default_rng(seed)
    generator, pool, rows = job
    if generator is not None:
        X, y = _fresh(generator, random, rows, loss)
    else:
        X, y = take_rows(pool[0], rows), pool[1][rows]
    own = random.integers(np.iinfo(np.int32).max)
    return [
        np.asarray(fit_member(make_member(estimator, int(own)), X, y).predict(X_test))
        for estimator in estimators
    ]


def _draws(
    n: int, test_size: Any, resample: str, n_repeats: int, random: np.random.Generator
) -> tuple[npt.NDArray[np.intp], list[npt.NDArray[np.intp]]]:
    """Test rows, and the rows of each training set."""
    n_test = count_or_share(
        "test_size", 0.3 if test_size is None else test_size, n, least=1, whole=False
    )
    order = random.permutation(n)
    test, pool = order[:n_test], order[n_test:]
    m = len(pool)
    if resample == "disjoint":
        size = m // n_repeats
        parts = list(pool[: size * n_repeats].reshape(n_repeats, size))
    elif resample == "half":
        size = m // 2
        parts = [random.permutation(pool)[:size] for _ in range(n_repeats)]
    else:
        size = m
        parts = [random.choice(pool, m) for _ in range(n_repeats)]
    if size < 1:
        raise ValueError(
            f"{n} rows, {n_test} of them for tests, leave none for {n_repeats} training sets "
            f"({resample}): give more rows, or ask for fewer sets."
        )
    return test, parts


def _fresh(generator: Any, random: np.random.Generator, n: int, loss: str) -> Rows:
    made = generator(random, n)
    if not isinstance(made, tuple) or len(made) != 2:
        raise ValueError("generator(rng, n) must return a pair: a table X and targets y.")
    return _read(*made, loss)


def _read(X: Any, y: Any, loss: str) -> Rows:
    table = keep_X_fit(DecisionTreeClassifier(), X)
    n = table.shape[0]
    if loss == "squared":
        target: npt.NDArray[Any] = check_target(y, n)
        several = target.shape[1] > 1
        target = target[:, 0]
    else:
        labels = encode_labels(y, n)
        several = labels.multi_output
        target = labels.classes[0][labels.codes[:, 0]]
    if several:
        raise ValueError("y should be a 1d array, one target per row.")
    return table, target


# --- parts ----------------------------------------------------------------------------------------


def _decompose(
    said: list[list[npt.NDArray[Any]]], test: Rows, truth: Any, loss: str
) -> tuple[FloatArray, FloatArray]:
    X, y = test
    given = None if truth is None else np.asarray(truth(X), dtype=np.float64)
    by_estimator = [np.stack(each) for each in zip(*said, strict=True)]
    if loss == "squared":
        f = y if given is None else given
        if f.shape != y.shape or not np.isfinite(f).all():
            raise ValueError(f"truth(X) must give {len(y)} finite numbers, one per row.")
        found = [squared_parts(each.astype(np.float64), f, (y - f) ** 2) for each in by_estimator]
    else:
        classes = np.unique(np.concatenate([y, *(np.unique(each) for each in by_estimator)]))
        p = np.equal.outer(y, classes).astype(np.float64) if given is None else given
        if p.shape != (len(y), len(classes)) or not np.allclose(p.sum(axis=1), 1):
            raise ValueError(
                f"truth(X) must give probabilities of shape ({len(y)}, {len(classes)}) that sum to "
                f"1, in the order of the labels {classes.tolist()}, got shape {p.shape}."
            )
        found = [zero_one_parts(np.searchsorted(classes, each), p) for each in by_estimator]
    return np.stack([values for values, _ in found]), np.stack([errors for _, errors in found])


# --- what is given --------------------------------------------------------------------------------


def _named(estimators: Any) -> dict[str, Any]:
    if isinstance(estimators, Mapping):
        named = {str(name): each for name, each in estimators.items()}
    elif isinstance(estimators, Sequence) and not isinstance(estimators, str):
        kinds = [type(each).__name__ for each in estimators]
        named = {
            kind if kinds.count(kind) == 1 else f"{kind} {k + 1}": each
            for k, (kind, each) in enumerate(zip(kinds, estimators, strict=True))
        }
    else:
        named = {type(estimators).__name__: estimators}
    if not named:
        raise ValueError("estimators is empty: give at least one.")
    for each in named.values():
        check_member(each)
    return named


def _check_loss(loss: str | None, named: dict[str, Any]) -> str:
    kinds = {is_classifier(each) for each in named.values()}
    if len(kinds) > 1:
        raise ValueError("estimators must be all classifiers or all regressors.")
    classifiers = kinds.pop()
    if loss is None:
        return "zero_one" if classifiers else "squared"
    check_choice("loss", loss, tuple(LOSSES))
    if (loss == "zero_one") is not classifiers:
        raise ValueError(
            f"loss={loss!r} is for {'regressors' if classifiers else 'classifiers'}: the "
            f"estimators are {'classifiers' if classifiers else 'regressors'}."
        )
    return loss


def _change(part: str, before: dict[str, float], after: dict[str, float]) -> str:
    old, new = before[part], after[part]
    if old <= 0 or new < 0 or max(old, new) < 1e-12:
        return f"a {part} of {new:.4g} instead of {old:.4g}"
    return f"{abs(1 - new / old):.0%} {'less' if new <= old else 'more'} {part}"
