"""How many different labellings trees, and votes and sums of trees, can give n rows.

All counts are natural logarithms of upper bounds.
"""

from __future__ import annotations

from math import e, lgamma, log, log2

__all__ = ["log_sauer", "log_shapes", "log_trees", "vc_of_trees", "vc_of_votes"]


def log_sauer(m: float, d: float) -> float:
    """Labellings of m points by a class of VC dimension d: ``(e m / d)^d``, or all 2^m.

    Sauer's lemma; Mohri et al. (2018), Corollary 3.18.
    """
    return d * log(e * m / d) if m >= d else m * log(2)


def log_shapes(n: int, d: int, leaves: int) -> float:
    """Ways to divide n rows by a tree of up to `leaves` leaves on d columns of numbers.

    The binary trees of that size (Catalan's number), times the tests of each inner node: n - 1 cuts
    in each column, and one test that all rows pass, for trees with fewer leaves.
    """
    inner = leaves - 1
    catalan = lgamma(2 * inner + 1) - lgamma(inner + 1) - lgamma(inner + 2)
    return catalan + inner * log(d * (n - 1) + 1)


def log_trees(n: int, d: int, leaves: int, n_classes: int = 2) -> float:
    """Labellings by such trees with a class in each leaf; never more than there are."""
    return min(log_shapes(n, d, leaves) + leaves * log(n_classes), n * log(n_classes))


def vc_of_trees(d: int, leaves: int) -> int:
    """An upper bound on the VC dimension: the most rows whose 2^m labellings are not too many."""
    low, high = 1, 2
    while log_shapes(high, d, leaves) + leaves * log(2) >= high * log(2):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        if log_shapes(middle, d, leaves) + leaves * log(2) >= middle * log(2):
            low = middle
        else:
            high = middle
    return low


def vc_of_votes(d: int, T: int) -> float:
    """Upper bound on the VC dimension of weighted votes of T functions from a class of dimension d.

    ``2 (d + 1) (T + 1) log2(e (T + 1))`` for d >= 2; Freund & Schapire (1997), Theorem 8.
    """
    d = max(d, 2)
    return 2 * (d + 1) * (T + 1) * log2(e * (T + 1))
