"""How much a prediction of a forest would move if the training data were drawn again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from scipy.stats import norm
from sklearn.utils.validation import _num_samples

from weald._engine import FloatArray
from weald.input.raw_table import take_rows
from weald.params.growth import is_real, refuse
from weald.theory.result import Result
from weald.theory.task import read_model
from weald.theory.view import EnsembleView

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Stability", "stability"]

_CELLS = 2**22  # numbers that members say, held at a time


@dataclass(frozen=True, eq=False)
class Stability(Result):
    """Variances of a forest's predictions over training sets; from :func:`stability`.

    Arrays have shape (n,) for numbers, and (n, K) for the shares of K classes.
    """

    classes: npt.NDArray[Any] | None
    """Labels; None for numbers."""
    prediction: FloatArray
    """Mean of the members."""
    variance: FloatArray
    """Of the prediction, by the infinitesimal jackknife; may be negative where members are few."""
    jackknife: FloatArray
    """The same by the jackknife after bootstrap."""
    member_variance: FloatArray
    """Of single members around their mean."""
    noise: FloatArray
    """Standard deviation of `variance` that comes from the finite number of members."""
    n_members: int
    """T."""
    n_train: int
    """Training rows."""
    level: float
    """Coverage of the intervals."""

    @property
    def standard_error(self) -> FloatArray:
        """Of the prediction; 0 where the variance is not positive."""
        return np.sqrt(np.maximum(self.variance, 0.0))

    @property
    def interval(self) -> FloatArray:
        """Ends of the confidence intervals, (n, 2) or (n, K, 2); within 0 and 1 for shares."""
        half = float(norm.ppf((1 + self.level) / 2)) * self.standard_error
        ends = np.stack([self.prediction - half, self.prediction + half], axis=-1)
        return ends if self.classes is None else np.clip(ends, 0.0, 1.0)

    @property
    def n_negative(self) -> int:
        """Rows whose variance is not positive: for want of members, or as all members agree."""
        bad = (self.variance <= 0) & (self.member_variance > 0)
        return int(bad.reshape(len(bad), -1).any(axis=1).sum())

    def summary(self) -> str:
        """What the numbers mean, in plain words; also which of them say nothing."""
        n = len(self.prediction)
        mean = float(self.variance.mean())
        moved = f"about {np.sqrt(mean):.3g}" if mean > 0 else "too little to be seen"
        if not self.member_variance.any():
            moved = "nothing"
        of_member = float(np.sqrt(self.member_variance.mean()))
        what = "prediction" if self.classes is None else "class share"
        text = (
            f"Drawn again, the {self.n_train} training rows would move a {what} by {moved} "
            f"(a standard error, root mean square over {n} rows; "
            f"{np.sqrt(max(self.jackknife.mean(), 0.0)):.3g} by the jackknife). "
            f"A single member differs from the mean of all by {of_member:.3g}. "
        )
        text += (
            f"The {self.level:.0%} intervals are about what the forest says on average over "
            "training sets of this size, not about the truth or the next target. "
        )
        if self.n_negative:
            text += (
                f"In {self.n_negative} of {n} rows the variance came out as 0 or less: too small "
                f"to be told from the noise of {self.n_members} members. "
            )
        if self.noise.mean() > 0.5 * max(self.variance.mean(), 0.0) and of_member > 0:
            text += (
                "For single rows these numbers are mostly noise: fit more members, about as many "
                f"as training rows ({self.n_train}), and do not rely on them until then. "
            )
        return text.rstrip()

    def columns(self) -> Mapping[str, Any]:
        """A row for each row, or for each row and class."""
        ends = self.interval.reshape(-1, 2)
        n = len(self.prediction)
        k = self.prediction.size // n
        columns: dict[str, Any] = {"row": np.repeat(np.arange(n), k)}
        if self.classes is not None:
            columns["class"] = np.tile(self.classes, n)
        return columns | {
            "prediction": self.prediction.ravel(),
            "standard error": self.standard_error.ravel(),
            "low": ends[:, 0],
            "high": ends[:, 1],
            "variance": self.variance.ravel(),
            "variance, jackknife": self.jackknife.ravel(),
            "variance of members": self.member_variance.ravel(),
        }

    def _draw(self, ax: Axes) -> None:
        from weald.theory.plots.complexity import draw_intervals

        draw_intervals(self, ax)


def stability(forest: Any, X: Any, *, level: float = 0.95) -> Stability:
    """Standard errors of a forest's predictions over training sets, from one fitted forest.

    With N_bi how often member b drew training row i, t_b(x) what it says, and B members, the
    infinitesimal jackknife is

        V_IJ = sum_i Cov_i^2,    Cov_i = 1/B sum_b (N_bi - mean N_i) (t_b - mean t),

    less ``s v / B``, the part that comes from drawing only B members, where s is the rows a member
    draws and v the variance of the members (Wager, Hastie & Efron 2014). The
    jackknife after bootstrap compares the mean over the members that did not draw row i,

        V_J = (n - 1) / n sum_i (mean of t_b over b with N_bi = 0, minus mean t)^2,

    less ``(n - 1) / n v sum_i (1 / m_i - 1 / B)``, with m_i the number of such members (about
    ``(e - 1) n v / B``). The first is too small and the second too large if anything.
    Draws without replacement count times ``(n / (n - s))^2 (n - 1) / n`` (Wager & Athey 2018).

    Both are quadratic forms: V_IJ = c' (N N') c / B^2 for the centred N and answers c, so that a
    matrix of members by members is all that is needed of the training rows.

    Parameters
    ----------
    forest : fitted ensemble whose prediction is the mean of members on drawn rows
        Forests and bagging of weald and scikit-learn. Rows must have been drawn alike, not by
        weight, group or class.
    X : table of shape (n, d)
        Rows to predict.
    level : float
        Coverage of the confidence intervals.

    Returns
    -------
    Stability

    References
    ----------
    S. Wager, T. Hastie & B. Efron (2014), Confidence intervals for random forests: the jackknife
    and the infinitesimal jackknife, Journal of Machine Learning Research 15.
    S. Wager & S. Athey (2018), Estimation and inference of heterogeneous treatment effects using
    random forests, Journal of the American Statistical Association 113.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from weald import RandomForestRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> forest = RandomForestRegressor(500, random_state=0).fit(X, y)
    >>> found = stability(forest, X[:100])
    >>> bool(found.variance.mean() < found.jackknife.mean())
    True
    """
    if not (is_real(level) and 0 < level < 1):
        raise refuse("level", "a number between 0 and 1", level)
    view = read_model(forest, notion="stability")
    n_rows = _num_samples(X)
    if n_rows == 0:
        raise ValueError("stability needs rows, but X has none.")
    forms = _Forms.of(_check_bags(view))
    parts = [forms.of_answers(answers) for answers in _answers(view, X, n_rows)]
    prediction, variance, jackknife, members, noise = (
        np.concatenate(part) for part in zip(*parts, strict=True)
    )
    return Stability(
        view.classes,
        prediction,
        variance,
        jackknife,
        members,
        noise,
        view.n_members,
        forms.n,
        float(level),
    )


@dataclass(frozen=True, eq=False)
class _Forms:
    """What the draws of the members have to say: two quadratic forms in their answers."""

    n: int
    infinitesimal: FloatArray
    """(T, T): its form in the centred answers is V_IJ before the correction."""
    jackknife: FloatArray
    correction: float
    """Of V_IJ, in parts of the variance of members."""
    jackknife_correction: float
    spread: float
    """Standard deviation of V_IJ, in the same parts."""

    @staticmethod
    def of(bags: npt.NDArray[Any]) -> _Forms:
        B, n = bags.shape
        drawn = float(bags.sum(axis=1).mean())
        replaced = bool(bags.max() > 1)
        factor = 1.0 if replaced else (n - 1) / n * (n / (n - drawn)) ** 2
        counts, absent, missing = np.zeros((B, B)), np.zeros((B, B)), []
        step = max(1, _CELLS // B)
        for first in range(0, n, step):
            part = bags[:, first : first + step].astype(np.float64)
            centred = part - part.mean(axis=0)
            counts += centred @ centred.T
            out = part == 0
            without = out.sum(axis=0)
            known = without > 0  # rows that every member drew have no members to compare with
            means = out[:, known] / without[known]
            absent += means @ means.T
            missing.append(1 / without[known] - 1 / B)
        gaps = np.concatenate(missing)
        scale = (n - 1) / n * (n / len(gaps) if len(gaps) else 0.0)
        row_variances = drawn if replaced else drawn * (1 - drawn / n)
        return _Forms(
            n,
            factor * counts / B**2,
            scale * absent,
            factor * row_variances / B,
            scale * float(gaps.sum()),
            factor * row_variances / B * np.sqrt(2 / n),
        )

    def of_answers(self, answers: FloatArray) -> tuple[FloatArray, ...]:
        """Mean, variance, jackknife, variance of members and noise, for answers (B, ...)."""
        B = len(answers)
        mean = answers.mean(axis=0)
        away = (answers - mean).reshape(B, -1)
        members = (away**2).mean(axis=0)
        form = np.einsum("br,br->r", away, self.infinitesimal @ away)
        other = np.einsum("br,br->r", away, self.jackknife @ away)
        flat = (
            form - self.correction * members,
            other - self.jackknife_correction * members,
            members,
            self.spread * members,
        )
        return mean, *(each.reshape(mean.shape) for each in flat)


def _check_bags(view: EnsembleView) -> npt.NDArray[Any]:
    """How often members drew rows, for a mean of members that did draw some."""
    if view.combine not in ("mean", "votes") or np.ptp(view.weights) > 0:
        raise TypeError(
            f"stability is for means of members that count alike, but {view.name} combines its "
            f"members by {'weights' if view.combine in ('mean', 'votes') else view.combine}: use "
            "a forest or bagging."
        )
    if view.n_members < 2:
        raise ValueError(f"This {view.name} has one member: stability needs many.")
    bags = view.in_bag()
    if bags is None or not bags.std(axis=0).any():
        raise ValueError(
            f"The members of this {view.name} were all fitted to the same rows, so their draws "
            "say nothing: give a forest or bagging that was fitted with bootstrap=True."
        )
    if view.drawing != "rows":
        raise ValueError(
            f"stability needs rows that were drawn alike, but this {view.name} drew them by "
            f"{view.drawing}: fit it without."
        )
    return bags


def _answers(view: EnsembleView, X: Any, n: int) -> Iterator[FloatArray]:
    """What the members say of some rows at a time: (T, rows), or (T, rows, K)."""
    step = max(1, _CELLS // (view.n_members * max(view.n_classes, 1)))
    for first in range(0, n, step):
        rows = X if step >= n else take_rows(X, np.arange(first, min(first + step, n)))
        if view.kind == "numbers":
            yield view.values(rows)
        else:
            yield np.stack(list(view.shares(rows)))
