"""The kinds of AdaBoost: what a member says, how much it counts, and what that does to the rows.

All of them are the same rounds (:mod:`weald.adaboost.rounds`) over the same three numbers. A member
divides the rows into groups (the leaves of a tree, or the classes it predicts); in a group it gives
every class k a raw value S_k, and a row of class k the margin M_k, positive if that is right:

    F_k <- F_k + alpha S_k        w_i <- w_i exp(-alpha M_k) / Z

    ==========  ====================================  ==============  ===========================
    name        S                                     M               alpha
    ==========  ====================================  ==============  ===========================
    samme       1 for its vote, else -1/(K-1)         1, else -1      1/2 (ln((1-e)/e) + ln(K-1))
    arc-gv      as samme                              as samme        as samme, less atanh(rho)
    confidence  2p - 1                                S               1/2 ln((1-e)/e)
    gentle      2p - 1                                S               1
    real        (K-1) (ln p - mean of ln p)           S / (K-1)       1
    logit       h and -h, of a regression member      S               1/2
    ==========  ====================================  ==============  ===========================

A tree says the same to all rows of a leaf, and a row's weight is multiplied by a number that
depends on its leaf and class alone. So every formula is worked out for a handful of leaves, and the
engine does the rest. The groups of another classifier are the classes it predicts; where it gives
shares every row is a group. So one loop serves six algorithms and any member.

p are the member's class shares. The error e is the weight of the rows it gets wrong, or for the two
that go by 2p - 1 the mean of (1 - M)/2. For two classes all of them estimate half the log odds, so
P(y=+1|x) = e^F / (e^F + e^-F).

arc-gv goes for a large minimum margin: rho is the smallest y F / sum alpha of the rows so far, or 0
as long as there are errors. A member whose edge is not above rho / 2 is useless; the best one of a
family never is.

Freund & Schapire (1997) for samme with two classes, Zhu, Zou, Rosset & Hastie (2009) with more;
Breiman (1999) for arc-gv; Schapire & Singer (1999) for confidence; Friedman, Hastie & Tibshirani
(2000) for the rest.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from weald import _engine as engine
from weald._engine import FloatArray
from weald.members.foreign import Counts

__all__ = ["ALGORITHMS", "Algorithm", "Judgement", "half_log_odds"]

# Stands for an error of 0: keeps votes finite, and is below any error that can be told from 0.
_NO_ERROR = np.finfo(np.float64).eps
# Logarithms are taken of class shares no smaller than this part of an even one. It does not depend
# on the number of rows: otherwise two copies of a row would act differently from one row of
# weight 2.
_LEAST_SHARE = 0.01


@dataclass(frozen=True)
class Judgement:
    """One round as the rows see it.

    Attributes
    ----------
    raw, margins : array of shape (n_groups, K)
    error : float
    edge : float
        How much better than chance: 1 - 1/K - error.
    alpha : float
        How much the member counts; the learning rate is not in it.
    """

    raw: FloatArray
    margins: FloatArray
    error: float
    edge: float
    alpha: float


@dataclass(frozen=True)
class Algorithm:
    """One kind of AdaBoost.

    Attributes
    ----------
    raw : callable
        From what a member says in each group to S: class shares of shape (n_groups, K), or for
        regression members numbers of shape (n_groups, 1).
    adds : "votes", "shares", "numbers" or "ratios"
        What of a tree counts: its vote for the largest class, its class shares, or its number, all
        of which the engine can add up by itself; or logarithms of shares, which it cannot.
    alpha : float or None
        None: from the error.
    by_shares : bool
        Members must give class shares, not only predictions.
    regression : bool
        Members predict numbers.
    by_margin : bool
        The vote is lowered by atanh of the smallest margin so far.
    """

    raw: Callable[[FloatArray], FloatArray]
    adds: str
    alpha: float | None = None
    by_shares: bool = True
    regression: bool = False
    two_classes: bool = True
    by_margin: bool = False
    useless: ClassVar[str] = "it cannot tell the classes apart and gives them even odds"

    @property
    def any_edge(self) -> bool:
        """A member counts whatever its edge is."""
        return self.regression  # those of LogitBoost lower another loss

    def margins(self, raw: FloatArray) -> FloatArray:
        """What the raw values are worth to a row of each class."""
        if self.adds == "votes":
            return np.where(raw > 0, 1.0, -1.0)
        margins: FloatArray = raw / (raw.shape[1] - 1)
        return margins

    def spread(self, n_classes: int) -> float:
        """The classes' probabilities are the softmax of F times this."""
        # Of the population minimiser of the exponential loss (Zhu et al. 2009, with alpha halved).
        k = n_classes
        return 2 * (k - 1) / k if self.adds == "votes" else 1 / max(k - 1, 1)

    def judge(self, said: FloatArray, weights: FloatArray, counts: Counts = None) -> Judgement:
        """What a member's groups say, and how much that is worth.

        Parameters
        ----------
        said : array of shape (n_groups, K), or (n_groups, 1) for regression members
        weights : array of shape (n_groups, K)
            Weight of each class of rows in each group, 1 in total.
        counts : array of shape (n_groups,), optional
            How often each group counts; by default once.
        """
        raw = self.raw(said)
        # Where no row counts, whatever is said there must not matter.
        margins = self.margins(raw)
        if not weights.all():
            margins[~weights.any(axis=1)] = 0.0
        if self.adds == "shares":
            wrong = weights * (1 - margins) / 2
        elif self.adds == "votes":
            wrong = np.where(raw > 0, 0.0, weights)
        else:
            right = raw.argmax(axis=1)[:, None] == np.arange(raw.shape[1])
            wrong = np.where(right, 0.0, weights)
        error = min(max(engine.exact_sum(wrong.sum(axis=1), None, counts), 0.0), 1.0)
        k = raw.shape[1]
        alpha = half_log_odds(error, k) if self.alpha is None else self.alpha
        return Judgement(raw, margins, error, 1 - 1 / k - error, alpha)


def half_log_odds(error: float, n_classes: int = 2) -> float:
    """``1/2 (ln((1 - e) / e) + ln(K - 1))``, finite even for an error of 0 or 1."""
    inside = min(max(error, _NO_ERROR), 1 - _NO_ERROR)
    others = 0.0 if n_classes == 2 else np.log(n_classes - 1)
    return float(np.log((1 - inside) / inside) + others) / 2


def _votes(shares: FloatArray) -> FloatArray:
    k = shares.shape[1]
    chosen = shares.argmax(axis=1)[:, None] == np.arange(k)
    return np.where(chosen, 1.0, -1 / (k - 1))


def _confidence(shares: FloatArray) -> FloatArray:
    return 2 * shares - 1


def _log_ratios(shares: FloatArray) -> FloatArray:
    k = shares.shape[1]
    logs = np.log(np.clip(shares, _LEAST_SHARE / k, 1 - _LEAST_SHARE / k))
    raw: FloatArray = (k - 1) * (logs - logs.mean(axis=1, keepdims=True))
    return raw


def _both_ways(values: FloatArray) -> FloatArray:
    return np.hstack([-values, values])


ALGORITHMS = {
    "samme": Algorithm(_votes, "votes", by_shares=False, two_classes=False),
    "arc-gv": Algorithm(_votes, "votes", by_shares=False, by_margin=True),
    "confidence": Algorithm(_confidence, "shares"),
    "real": Algorithm(_log_ratios, "ratios", alpha=1.0, two_classes=False),
    "gentle": Algorithm(_confidence, "shares", alpha=1.0),
    "logit": Algorithm(_both_ways, "numbers", alpha=0.5, by_shares=False, regression=True),
}
