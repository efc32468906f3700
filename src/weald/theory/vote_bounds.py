"""PAC-Bayes bounds for the Gibbs classifier and for the weighted majority vote.

The vote errs on a row only if members of at least half the weight err there. So its error is at
most ``P(W >= 1/2)`` for the share W of the weight that errs. W has the mean G, the Gibbs loss, and
the second moment S, the tandem loss, whatever the number of classes. Three inequalities bound the
vote by them:

======================  =============================  ====================================
Markov                  2 G                            the folk theorem, first order
Markov of the square    4 S                            Masegosa et al. (2020), second order
Chebyshev-Cantelli      (S - G^2) / (S - G + 1/4)      the C-bound, Lacasse et al. (2007)
======================  =============================  ====================================

G and S are bounded by what was seen on rows that are independent of the members. For all weights
rho at once, with probability 1 - delta over those rows,

    kl(seen G || G) <= (KL(rho || pi) + ln(2 sqrt(n) / delta)) / n,

and the same for S, with 2 KL and the rows of pairs (Seeger 2002, Maurer 2004). Out of bag, every
member has rows of its own, and n is the fewest of any (Lorenzen, Igel and Seldin 2019).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import log, sqrt

from weald._engine import FloatArray
from weald.theory.kl import divergence, kl_lower, kl_upper
from weald.theory.vote_losses import VoteLosses

__all__ = ["BOUNDS", "Bound", "Seen", "best_lambda", "c_bound", "complexity", "lambda_bound"]


@dataclass(frozen=True)
class Seen:
    """What was seen of a vote with some weights.

    Parameters
    ----------
    gibbs, tandem, disagreement : float
        Mean loss of a drawn member, of a drawn pair, and share of rows where one of a pair errs.
    n, n_pair : int
        Rows behind them, the fewest of any member and of any pair.
    divergence : float
        KL(rho || pi), in nats.
    vote : float or None
        Error of the vote itself, where weights and members do not depend on the n rows.
    """

    gibbs: float
    tandem: float
    disagreement: float
    n: int
    n_pair: int
    divergence: float
    vote: float | None = None

    @classmethod
    def of(
        cls,
        losses: VoteLosses,
        weights: FloatArray,
        prior: FloatArray,
        vote: float | None = None,
    ) -> Seen:
        """Weigh the losses of members and pairs."""
        return cls(
            losses.gibbs(weights),
            losses.tandem(weights),
            losses.disagreement(weights),
            losses.n,
            losses.n_pair,
            divergence(weights, prior),
            vote,
        )

    def reach(self, delta: float) -> float:
        """How far, in kl, the loss of a drawn member may be from the one seen."""
        return complexity(self.n, self.divergence, delta)

    def pair_reach(self, delta: float) -> float:
        """How far, in kl, a mean over drawn pairs may be from the one seen."""
        return complexity(self.n_pair, 2.0 * self.divergence, delta)


def complexity(n: int, divergence: float, delta: float) -> float:
    """``(KL + ln(2 sqrt(n) / delta)) / n``, the right-hand side of the kl inequality."""
    return (divergence + log(2.0 * sqrt(n) / delta)) / n


def best_lambda(seen: float, c: float) -> float:
    """Minimiser of `lambda_bound`: ``2 / (sqrt(2 seen / c + 1) + 1)``, between 0 and 1."""
    return 2.0 / (sqrt(2.0 * seen / c + 1.0) + 1.0)


def lambda_bound(seen: float, c: float, at: float) -> float:
    """``seen / (1 - l/2) + c / (l (1 - l/2))`` for l = `at` in (0, 2).

    PAC-Bayes-lambda: Thiemann, Igel, Wintenberger and Seldin (2017). It holds for all l at once.
    It is a little above the kl inverse, but easy to minimise.
    """
    return (seen + c / at) / (1.0 - at / 2.0)


def gibbs_kl(s: Seen, delta: float) -> float:
    """Bound the Gibbs loss by the kl inverse."""
    return kl_upper(s.gibbs, s.reach(delta))


def gibbs_lambda(s: Seen, delta: float) -> float:
    """Bound the Gibbs loss by PAC-Bayes-lambda, at the best lambda."""
    c = s.reach(delta)
    return min(lambda_bound(s.gibbs, c, best_lambda(s.gibbs, c)), 1.0)


def gibbs_mcallester(s: Seen, delta: float) -> float:
    """Bound the Gibbs loss by ``seen + sqrt(c / 2)``, as McAllester (1999): kl by Pinsker."""
    return min(s.gibbs + sqrt(s.reach(delta) / 2.0), 1.0)


def first_order(s: Seen, delta: float) -> float:
    """Bound the vote by twice the Gibbs loss."""
    return min(2.0 * gibbs_kl(s, delta), 1.0)


def tandem(s: Seen, delta: float) -> float:
    """Bound the vote by four times the tandem loss (Masegosa et al. 2020)."""
    return min(4.0 * kl_upper(s.tandem, s.pair_reach(delta)), 1.0)


def c_tandem(s: Seen, delta: float) -> float:
    """Bound the vote by the worst C-bound of all G and S that the kl inequality leaves.

    G and S have half of delta each, and S is at most G. The C-bound rises with S; in G it rises up
    to G = 2 S, where it is 4 S, and falls beyond. So it is worst at the largest S and at the G
    nearest to twice that.
    """
    c = s.reach(delta / 2.0)
    least, most = kl_lower(s.gibbs, c), kl_upper(s.gibbs, c)
    S = min(kl_upper(s.tandem, s.pair_reach(delta / 2.0)), most)
    G = min(max(2.0 * S, least), most)
    return c_bound(G, S)


def c_disagreement(s: Seen, delta: float) -> float:
    """Bound the vote on two classes by its Gibbs loss and its disagreement D = 2 (G - S).

    PAC-bound 1 of Germain et al. (2015): the C-bound ``1 - (1 - 2 G)^2 / (1 - 2 D)`` with the
    largest G and the smallest D, at half of delta each.
    """
    G = kl_upper(s.gibbs, s.reach(delta / 2.0))
    D = kl_lower(s.disagreement, s.pair_reach(delta / 2.0))
    return c_bound(G, G - D / 2.0)


def one_classifier(s: Seen, delta: float) -> float:
    """Bound the vote as any one classifier on n rows held out, by the Chernoff bound.

    That is the kl inverse at ``c = ln(1 / delta) / n``: Langford (2005), Tutorial on practical
    prediction theory for classification.
    """
    assert s.vote is not None
    return kl_upper(s.vote, log(1.0 / delta) / s.n)


def c_bound(G: float, S: float) -> float:
    """``(S - G^2) / (S - G + 1/4)`` for G < 1/2; at least 0 and at most 1."""
    spread, gap = S - G * G, 0.5 - G
    if gap <= 0.0:
        return 1.0
    return max(spread, 0.0) / (max(spread, 0.0) + gap * gap)


@dataclass(frozen=True)
class Bound:
    """One row of the table of bounds.

    Parameters
    ----------
    name : str
        Its key in the result.
    label : str
        Its name in tables and plots.
    of : {"gibbs", "vote"}
        Whose error it bounds.
    value : callable
        The bound, from what was seen and delta.
    needs : {"", "two classes", "fixed vote"}
        What it is for; a vote is fixed if its weights and members do not depend on the rows.
    """

    name: str
    label: str
    of: str
    value: Callable[[Seen, float], float]
    needs: str = ""


BOUNDS = (
    Bound("gibbs_kl", "one member, kl inverse", "gibbs", gibbs_kl),
    Bound("gibbs_lambda", "one member, PAC-Bayes-lambda", "gibbs", gibbs_lambda),
    Bound("gibbs_mcallester", "one member, McAllester", "gibbs", gibbs_mcallester),
    Bound("first_order", "vote, first order: 2 x Gibbs", "vote", first_order),
    Bound("tandem", "vote, second order: 4 x tandem", "vote", tandem),
    Bound("c_tandem", "vote, C-bound from the tandem loss", "vote", c_tandem),
    Bound(
        "c_disagreement",
        "vote, C-bound from the disagreement",
        "vote",
        c_disagreement,
        "two classes",
    ),
    Bound("test_set", "vote, as one classifier", "vote", one_classifier, "fixed vote"),
)
