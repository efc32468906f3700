"""Bounds on the error of a weighted vote on new rows, from its margins on the training rows.

Let f = sum a_t h_t with a >= 0 and summing to 1, and members h with values in [-1, 1] from a family
H. Draw N members by their weights; g is their mean. For any theta, by Hoeffding's inequality, g is
within theta/2 of what f is but for a probability of e_N = exp(-N theta² / 8), so

    P[y f <= 0]          <=  P[y g <= theta/2] + e_N
    P_S[y g <= theta/2]  <=  P_S[y f <= theta] + (K-1) e_N

on new rows and on the m training rows S. In between there are |H|^N mixtures g, each with its own
share of rows. With J values of theta that are chosen beforehand, and the chance of failure delta
spread as delta / (J N (N+1)), all of them obey, with L_N = ln(J N (N+1) / delta) + N ln|H|,

    P  <=  P_S + sqrt(L_N / (2 m))      (Hoeffding: Schapire, Freund, Bartlett & Lee 1998)
    P  <=  kl^-1(P_S; L_N / m)          (Chernoff)

The kl inverse is concave in P_S, so the mean over g may be taken inside. Both hold for all theta
and N at once, and the best of them is reported. Where rows with margins up to theta are few, k of
m, the second is of order L_N / m, the first of order sqrt(L_N / m). The bounds by the equilibrium
margin (Wang et al. 2011) and by the k-th margin (Gao & Zhou 2013) are of this kind; the constants
here are those of the proof above, not of these papers.

A family with VC dimension d is not finite, but makes at most (2em/d)^d functions of 2m rows; then,
by Vapnik and Chervonenkis' theorem, P <= P_S + sqrt(8 (L_N + ln 4) / m), with this in the place of
|H|.

Trees with L leaves on d columns *are* a finite family: cuts are floating-point numbers, of which
there are 2^64. A tree is a shape (less than 4^(L-1)), for each of L - 1 nodes a column, a cut and a
side for missing values, and for each leaf a class, or a number of 64 bits if leaves say numbers.

References
----------
Schapire, R., Freund, Y., Bartlett, P. and Lee, W. S. (1998). Boosting the margin: a new explanation
for the effectiveness of voting methods. Annals of Statistics 26.
Wang, L., Sugiyama, M., Jing, Z., Yang, C., Zhou, Z.-H. and Feng, J. (2011). A refined margin
analysis for boosting algorithms via equilibrium margin. Journal of Machine Learning Research 12.
Gao, W. and Zhou, Z.-H. (2013). On the doubt about margin explanation of boosting. Artificial
Intelligence 203.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from weald._engine import FloatArray
from weald.theory.kl import kl_upper

__all__ = ["THETAS", "Family", "MarginBounds", "margin_bounds", "tree_family"]

# Chosen beforehand, as the theorem wants it.
THETAS = np.arange(1, 41) / 40
_BITS = 64 * np.log(2)
_LEAST = 1e-15  # smaller chances are taken for this
_SIZES = np.unique(np.geomspace(1, 1e6, 60).astype(np.int64)).astype(np.float64)  # of g: N


@dataclass(frozen=True)
class Family:
    """What members are taken from.

    Attributes
    ----------
    name : str
    log_size : float
        ln of the number of members.
    vc_dimension : float, optional
        If it is not finite.
    """

    name: str
    log_size: float
    vc_dimension: float | None = None


@dataclass(frozen=True, eq=False)
class MarginBounds:
    """Bounds on the error of the vote on new rows, for each theta.

    Attributes
    ----------
    thetas, share_below : arrays
        Share of training rows with margins up to theta.
    hoeffding, chernoff : arrays
        The bound of Schapire et al., and the one of the kind of Gao & Zhou's k-th margin (NaN if
        all that is known of the family is its VC dimension).
    """

    thetas: FloatArray
    share_below: FloatArray
    hoeffding: FloatArray
    chernoff: FloatArray


def tree_family(n_leaves: int, n_columns: int, n_classes: int, *, numbers: bool) -> Family:
    """Trees with at most so many leaves, which say classes or numbers."""
    of_leaf = _BITS if numbers else float(np.log(n_classes))
    of_node = float(np.log(8 * n_columns)) + _BITS
    log_size = (n_leaves - 1) * of_node + n_leaves * of_leaf + float(np.log(n_leaves))
    return Family(f"trees with up to {n_leaves} leaves on {n_columns} columns", float(log_size))


def margin_bounds(
    margins: FloatArray, family: Family, delta: float, n_classes: int
) -> MarginBounds:
    """Bounds that hold with probability 1 - delta over the draw of the training rows.

    Parameters
    ----------
    margins : array of shape (m,)
        Of the training rows, between -1 and 1.
    family : Family
    delta : float
    n_classes : int
    """
    m = len(margins)
    below = np.searchsorted(np.sort(margins), THETAS, side="right") / m
    d = family.vc_dimension
    log_size = family.log_size if d is None else d * np.log(2 * np.e * m / d)
    cost = np.log(len(THETAS) * _SIZES * (_SIZES + 1) / delta) + _SIZES * log_size
    slip = np.maximum(np.exp(-np.outer(THETAS**2, _SIZES) / 8), _LEAST)
    seen = np.minimum(below[:, None] + (n_classes - 1) * slip, 1.0)
    if d is not None:
        hoeffding = (seen + slip + np.sqrt(8 * (cost + np.log(4)) / m)).min(axis=1)
        return MarginBounds(THETAS, below, hoeffding, np.full(len(THETAS), np.nan))
    hoeffding = (seen + slip + np.sqrt(cost / (2 * m))).min(axis=1)
    chernoff = [_least_chernoff(*row, cost / m) for row in zip(seen, slip, strict=True)]
    return MarginBounds(THETAS, below, hoeffding, np.array(chernoff))


def _least_chernoff(seen: FloatArray, slip: FloatArray, cost: FloatArray) -> float:
    """The least of ``kl^-1(seen; cost) + slip``, 1 at most."""
    best = 1.0
    least = np.maximum(seen, -np.expm1(-cost)) + slip  # it cannot be lower
    for j in np.argsort(least):
        if least[j] >= best:
            break
        best = min(best, float(kl_upper(float(seen[j]), float(cost[j])) + slip[j]))
    return best
