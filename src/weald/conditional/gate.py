"""The gate: a model of what each member loses on a row, and the weights that follow from it.

A gate regresses the regrets ``r_m(x)`` of the members (their loss minus the mean loss of all) on
the columns of the table. Its weights are::

    w_m(x)  ~  a_m exp(-r_m(x) / s t)

with the weights ``a`` that are best everywhere, or equal ones, the typical size s of a regret, and
a temperature t: near 0 the member that is expected to lose least rules alone, at infinity the gate
says nothing. Prior and temperature are chosen by the risk on rows that the gate has not seen: the
most cautious that are within a standard error of the least, so that a gate that has learned nothing
but noise does no harm.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone

from weald._engine import FloatArray
from weald.crossfit.candidate_risks import LevelOneRows
from weald.crossfit.out_of_bag import has_rare_categories
from weald.crossfit.risks import Risk
from weald.forest import RandomForestRegressor
from weald.input.encoder import TableEncoder
from weald.input.raw_table import take_rows
from weald.input.state import CheckedState, numbers, require
from weald.members.ensemble import DrawingEnsemble
from weald.members.foreign import fit_member, make_member
from weald.params.growth import is_real

__all__ = ["Gate"]

_TEMPERATURES = (np.inf, 4.0, 2.0, 1.0, 0.5, 0.25, 0.1)
_RARE = 0.99  # losses beyond this quantile are cut: a gate is no place for outliers
_ERRORS = 1.0  # standard errors by which a sharper gate must be better
_LEAST_SAY = 0.01  # a member with less weight everywhere is left out


@dataclass(eq=False)
class Gate(CheckedState):
    """A fitted gate.

    Attributes
    ----------
    model : fitted regressor of all regrets
    encoder : TableEncoder, optional
        Makes numbers of the table, if the gate sees what members say as well.
    prior : array of shape (M,)
    scale, temperature : float
        0: the member of least expected loss rules alone.
    kept : array
        The members that have a say, by number.
    """

    model: Any
    encoder: TableEncoder | None
    prior: FloatArray
    scale: float
    temperature: float
    kept: npt.NDArray[np.intp]

    def _check_state(self) -> None:
        M = len(self.prior)
        require(hasattr(self.model, "predict"), self, "its model")
        require(self.encoder is None or isinstance(self.encoder, TableEncoder), self, "its encoder")
        require(numbers(self.prior, M, 0.0), self, "its prior weights")
        require(is_real(self.scale) and 0 < self.scale < np.inf, self, "its scale")
        require(is_real(self.temperature) and self.temperature >= 0, self, "its temperature")
        kept: Any = self.kept
        right = isinstance(kept, np.ndarray) and kept.dtype == np.intp and kept.ndim == 1
        require(right and ((kept >= 0) & (kept < M)).all(), self, "which members it keeps")

    def weights(self, X: Any, said: FloatArray | None = None) -> FloatArray:
        """Weights of the kept members, shape (n, M); rows sum to 1.

        Parameters
        ----------
        X : table
        said : array of shape (n, M, K), optional
            What the kept members say, if the gate looks at it.
        """
        inputs = X if self.encoder is None else with_outputs(self.encoder.transform(X), said)
        regrets = _two_columns(self.model.predict(inputs))
        return mixed_by(regrets, self.prior, self.scale, self.temperature)[:, self.kept]


def mixed_by(
    regrets: FloatArray, prior: FloatArray, scale: float, temperature: float
) -> FloatArray:
    """The weights of the formula above, shape (n, M)."""
    if temperature == 0:
        return np.asarray(np.eye(regrets.shape[1])[regrets.argmin(axis=1)])
    powers = -regrets / (scale * temperature) + np.log(np.maximum(prior, 1e-300))
    weights = np.exp(powers - powers.max(axis=1, keepdims=True))
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def with_outputs(numbers: FloatArray, said: FloatArray | None) -> FloatArray:
    """Columns of the table and what the members say, side by side."""
    assert said is not None
    return np.hstack([numbers, said.reshape(len(numbers), -1)])


def learn_gate(
    gate: Any,
    X: Any,
    level: LevelOneRows,
    risk: Risk,
    overall: FloatArray,
    *,
    mode: str,
    outputs: bool,
    seed: int,
    n_jobs: int,
) -> tuple[Gate, FloatArray, float]:
    """Learn a gate from level-1 rows.

    Parameters
    ----------
    gate : regressor, optional
        Of several targets; default: a forest.
    X : the level-1 rows of the table
    level : LevelOneRows
    risk : Risk
        With a loss for each row.
    overall : array of shape (M,)
        Weights that are best everywhere.
    mode : {"mix", "choose"}
    outputs : bool
        The gate sees what members say.
    seed, n_jobs : int

    Returns
    -------
    the gate; weights of the members on the level-1 rows, by a gate that has not seen them; and the
    risk of that mixture
    """
    M = level.Z.shape[1]
    losses = np.stack([risk.losses(level.Z[:, m], level.y) for m in range(M)], axis=1)
    losses = np.minimum(losses, np.quantile(losses, _RARE))
    regrets = losses - losses.mean(axis=1, keepdims=True)
    scale = float(np.abs(regrets).mean()) or 1.0
    encoder, inputs = None, X
    if outputs:
        encoder = TableEncoder().fit(X)
        inputs = with_outputs(encoder.transform(X), level.Z)
    if gate is None:
        leaf = max(5, len(level.y) // 100)
        gate = RandomForestRegressor(100, min_samples_leaf=leaf, max_features=0.5, n_jobs=n_jobs)
    model, honest = _fitted(make_member(gate, seed), inputs, regrets, level, seed)
    settings = [(overall, 0.0)] if mode == "choose" else _settings(overall)
    tried = [mixed_by(honest, prior, scale, t) for prior, t in settings]
    chosen = _most_cautious([_losses_of(weights, level, risk) for weights in tried], level.w)
    (prior, temperature), weights = settings[chosen], tried[chosen]
    kept = np.flatnonzero(weights.max(axis=0) >= _LEAST_SAY)
    if outputs:
        kept = np.arange(M)  # it looks at all of them
    gate = Gate(model, encoder, prior, scale, temperature, kept)
    return gate, weights[:, kept], _risk_of(weights, level, risk)


def _most_cautious(losses: list[FloatArray], w: FloatArray) -> int:
    """The first of the settings whose loss is within a standard error of the least.

    Rows are noisy, and some setting always looks better than weights that are the same everywhere
    (Breiman et al. 1984 choose the size of a tree likewise). The standard error is that of the
    difference of losses, row by row: what is noise in both of them does not count. None that is
    chosen loses more than the first.
    """
    shares = w / w.sum()
    means = np.array([shares @ each for each in losses])
    best = int(means.argmin())
    apart = [each - losses[best] for each in losses]
    errors = np.array([np.sqrt(shares**2 @ (each - shares @ each) ** 2) for each in apart])
    near = (means - means[best] <= _ERRORS * errors) & (means <= means[0])
    return int(near.argmax())


def _settings(overall: FloatArray) -> list[tuple[FloatArray, float]]:
    """Priors and temperatures, the mixture that is best everywhere first."""
    equal = np.full(len(overall), 1 / len(overall))
    return [(prior, t) for t in _TEMPERATURES for prior in (overall, equal)]


def _losses_of(weights: FloatArray, level: LevelOneRows, risk: Risk) -> FloatArray:
    return risk.losses(np.einsum("nm,nmk->nk", weights, level.Z), level.y)


def _risk_of(weights: FloatArray, level: LevelOneRows, risk: Risk) -> float:
    return risk.mean(np.einsum("nm,nmk->nk", weights, level.Z), level.y, level.w)


def _fitted(
    gate: Any, inputs: Any, regrets: FloatArray, level: LevelOneRows, seed: int
) -> tuple[Any, FloatArray]:
    """The gate, and what it says of rows that it has not seen: out of bag, or on folds.

    Rows of a cluster are not judged by a gate that has seen others of it.
    """
    target = regrets[:, 0] if regrets.shape[1] == 1 else regrets
    draws = isinstance(gate, DrawingEnsemble) and bool(vars(gate).get("bootstrap"))
    alone = len(np.unique(level.cluster)) == len(level.cluster)
    if draws and alone and not has_rare_categories(clone(gate), inputs):
        gate.set_params(oob_score=True).fit(inputs, target, sample_weight=level.w)
        return gate, _two_columns(np.nan_to_num(gate.oob_prediction_))
    honest = np.zeros_like(regrets)  # says nothing, if all rows are one cluster
    for rows in _fifths(level.cluster, seed):
        others = np.flatnonzero(~np.isin(level.cluster, level.cluster[rows]))
        if len(others):
            part = take_rows(inputs, others)
            model = fit_member(clone(gate), part, target[others], level.w[others])
            honest[rows] = _two_columns(model.predict(take_rows(inputs, rows)))
    return fit_member(gate, inputs, target, level.w), honest


def _fifths(cluster: npt.NDArray[np.intp], seed: int) -> list[npt.NDArray[np.intp]]:
    """Rows in five parts, whole clusters in each."""
    kinds = np.random.RandomState(seed % 2**32).permutation(np.unique(cluster))
    parts = (np.flatnonzero(np.isin(cluster, some)) for some in np.array_split(kinds, 5))
    return [rows for rows in parts if len(rows)]


def _two_columns(values: Any) -> FloatArray:
    array = np.asarray(values, dtype=np.float64)
    return array.reshape(len(array), -1)
