"""The rounds of AdaBoost, as work for the driver: fit, look at the error, vote, reweight.

A warm start keeps no weights. They follow from what the members say about the training rows and
from their votes, so the members are asked once more, and the model is identical, bit for bit, to
one fitted without a break. The numbers of the rounds are kept: some may have been left out, and the
draws of a round follow from its number.

The error, the vote and the weights of rows know nothing of a tree's ``class_weight``, which moves
its splits and leaves only. Such trees are grown by the engine, but weighed in NumPy.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from weald._engine import FloatArray
from weald.adaboost.algorithms import Judgement
from weald.adaboost.learners import AdaBoostLearner
from weald.adaboost.params import AdaBoostParams
from weald.fitting.driver import NOTHING, Finished, Seen
from weald.members.base import Members
from weald.members.foreign import Counts
from weald.params.stopping import Stopping
from weald.params.warnings import warn_user

__all__ = ["AdaBoostRounds", "Method", "Round", "Score"]

# The validation score after member t, from the members and their votes; asked for in order.
Score = Callable[[Members, FloatArray, int], float]

# The vote of a member without error (the formula gives infinity): the largest vote so far, but at
# least this, the half log odds of an error of 1.8 %. If it outvoted all others the rest of the
# ensemble would be lost: on iris, wine and breast cancer that cost up to 2 points of accuracy
# and half of the log loss.
_SURE_VOTE = 2.0
_REDRAWS = 10  # of one round, before boosting gives up
_NO_EDGE = 1e-12  # rounding alone may give so much, where an edge is really 0
_NO_RISE = 1e-9  # a member with no more edge than this above the smallest margin has no vote
_MOST_EXPONENT = 700.0  # e to the power of more is too large for a number
# Members numbered from here on are the second, third, ... draw of a round.
_REDRAW_KEY = 1 << 32


class Method(Protocol):
    """How a member is judged."""

    @property
    def alpha(self) -> float | None:
        """How much every member counts; None if that follows from its error."""

    @property
    def any_edge(self) -> bool:
        """A member counts whatever its edge is."""

    @property
    def by_margin(self) -> bool:
        """The vote is lowered by atanh of the smallest margin so far."""

    @property
    def useless(self) -> str:
        """What a model without a useful member does, for a warning."""

    def judge(self, said: FloatArray, weights: FloatArray, counts: Counts = None) -> Judgement:
        """What a member says in each group of rows, and how much that is worth."""


@dataclass(eq=False, slots=True)
class Round:
    """What is kept of a round, beside its member.

    Attributes
    ----------
    number : int
        From 0; rounds whose members were left out are counted.
    error, edge, alpha, normalizer : float
    weights : array of shape (n,), optional
        Of the rows after the round.
    """

    number: int
    error: float
    edge: float
    alpha: float
    normalizer: float
    weights: FloatArray | None = None


class AdaBoostRounds:
    """Members made one after another.

    Parameters
    ----------
    name : str
        What is fitted, for warnings.
    learner : AdaBoostLearner
    method : Method
    members : Members
        Those of an earlier fit; it is added to.
    rounds : list of Round
        Of these members.
    tried : int
        Rounds of earlier fits.
    params : AdaBoostParams
    begin_scores : callable, optional
        Gives a function that scores one member after another, if there are validation rows.

    Attributes
    ----------
    tried : int
        Rounds that were made, those included whose members were left out.
    start : array of shape (n,)
        Weights of the rows before the first round.
    """

    number_name = "validation score"

    def __init__(
        self,
        name: str,
        learner: AdaBoostLearner,
        method: Method,
        members: Members,
        rounds: list[Round],
        tried: int,
        params: AdaBoostParams,
        begin_scores: Callable[[], Score] | None,
    ) -> None:
        self._name, self._learner, self._method, self._params = name, learner, method, params
        self._begin_scores = begin_scores
        self._forget_scores()
        self.members = members
        self.rounds: list[Round] = []
        self.start = learner.weights
        self.tried = tried
        for one in rounds:
            self._recall(one)

    def _recall(self, one: Round) -> None:
        """Change the weights as a round of an earlier fit did."""
        judgement = self._method.judge(*self._learner.recall(self.members, len(self.rounds)))
        if not self._perfect(one.error):
            self._learner.reweight(_factors(one.alpha * judgement.margins, one.number, 1.0))
        self._learner.accept(judgement, one.alpha)
        self.rounds.append(replace(one, weights=self._weights()))

    def __len__(self) -> int:
        return len(self.rounds)

    @property
    def alphas(self) -> FloatArray:
        """The votes."""
        return np.array([one.alpha for one in self.rounds], dtype=np.float64)

    @property
    def scores(self) -> list[float]:
        """The validation score after each member; none, if there are no validation rows."""
        if self._score is not None:
            for t in range(len(self._scores), len(self)):
                self._scores.append(self._score(self.members, self.alphas, t))
                self._stopping.note(self._scores[t])
        return self._scores[: len(self)]

    def _forget_scores(self) -> None:
        self._scores: list[float] = []
        self._score = None if self._begin_scores is None else self._begin_scores()
        self._stopping = Stopping(self._params.patience, self._params.tol)

    # --- work for the driver --------------------------------------------------------------------

    def advance(self, first: int, last: int, rate: float) -> bool:
        """Make a round; False if its member is left out."""
        if self.rounds and self._perfect(self.rounds[-1].error):
            raise Finished("perfect")  # an earlier fit has ended so
        params, t = self._params, first
        judgement = self._fitted(t)
        if judgement.edge <= self._least_edge:
            lone = not self.rounds
            last_chance = lone and last == params.n_estimators
            if params.when_worse == "skip" and self._learner.varies and not last_chance:
                self.tried = last
                return False
            if lone:
                self._keep_lone(judgement, t)
            raise Finished("worse" if judgement.edge <= _NO_EDGE else "edge")
        if self._perfect(judgement.error):
            alpha = max(rate * _SURE_VOTE, *self.alphas.tolist(), 0.0)
            normalizer = float(np.exp(-alpha))
        else:
            alpha = rate * (judgement.alpha - float(np.arctanh(self._least_margin)))
            normalizer = self._learner.reweight(_factors(alpha * judgement.margins, t, rate))
        self._keep(
            judgement, Round(t, judgement.error, judgement.edge, alpha, normalizer, self._weights())
        )
        self.tried = last
        return True

    def look(self, done: int) -> Seen:
        """The validation score, and whether there can be another round."""
        perfect = bool(self.rounds) and self._perfect(self.rounds[-1].error)
        if self._score is None and not perfect:
            return NOTHING
        scores = self.scores
        return Seen(
            validation_score=scores[-1] if scores else None,
            says_stop=self._stopping.says_stop,
            final="perfect" if perfect else None,
        )

    def cut(self, done: int) -> None:
        """Keep the members of the first rounds, and one at least."""
        kept = max(sum(one.number < done for one in self.rounds), 1)
        if kept < len(self.rounds):
            self.rounds = self.rounds[:kept]
            self.tried = max(done, self.rounds[-1].number + 1)
        if kept < len(self.members):
            self.members = self.members.prefix(kept)

    def interrupted(self) -> None:
        """Drop the unfinished round and score again: scoring may have been interrupted."""
        self.cut(self.rounds[-1].number + 1)
        self.tried = max(self.tried, self.rounds[-1].number + 1)
        self._forget_scores()

    # --- a round --------------------------------------------------------------------------------

    @property
    def _least_edge(self) -> float:
        if self._method.any_edge:
            return -np.inf
        least = self._least_margin
        return max(self._params.min_edge, least / 2 + _NO_RISE if least > 0 else 0.0, _NO_EDGE)

    @property
    def _least_margin(self) -> float:
        """The smallest ``y F / sum alpha`` of a row, if the method minds it; 0 if rows are wrong.

        A row weighs ``w exp(-y F) / prod Z``, so it is known from the weights.
        """
        if not self._method.by_margin:
            return 0.0
        total = float(self.alphas.sum())
        if total == 0:
            return 0.0
        present = self.start > 0
        most = float((self._learner.weights[present] / self.start[present]).max())
        shrunk = float(np.log([one.normalizer for one in self.rounds]).sum())
        # Rounded, so that k copies of a row act exactly as one of weight k.
        return max(round(-float(np.log(most) + shrunk) / total, 12), 0.0)

    def _perfect(self, error: float) -> bool:
        """Whether a member without error ends it: its vote would be infinite."""
        return error == 0 and self._method.alpha is None

    def _fitted(self, t: int) -> Judgement:
        """Fit and judge round t; rows are drawn again, if asked for, while it is useless."""
        for again in range(_REDRAWS if self._params.when_worse == "redraw" else 1):
            judgement = self._method.judge(*self._learner.fit(t + again * _REDRAW_KEY))
            if judgement.edge > self._least_edge:
                break
        return judgement

    def _keep_lone(self, judgement: Judgement, t: int) -> None:
        """Keep the only member, without a vote: the bound on the training error stays as it is."""
        least = self._params.min_edge
        chance = f"chance by min_edge={least:g}" if least > 0 else "chance"
        warn_user(f"No member of {self._name} is better than {chance}: {self._method.useless}.")
        self._keep(judgement, Round(t, judgement.error, 0.0, 0.0, 1.0, self._weights()))

    def _keep(self, judgement: Judgement, one: Round) -> None:
        self._learner.accept(judgement, one.alpha)
        self.members.add(self._learner.member)
        self.rounds.append(one)  # last: now the round is made

    def _weights(self) -> FloatArray | None:
        return self._learner.weights if self._params.keep_weights else None


def _factors(margins: FloatArray, t: int, rate: float) -> FloatArray:
    """What weights are multiplied by."""
    most = float(np.abs(margins).max())
    if not most <= _MOST_EXPONENT:
        raise ValueError(
            f"Round {t + 1} would multiply weights by e^{most:g}, beyond all numbers: "
            f"learning_rate={rate:g} is too large."
        )
    factors: FloatArray = np.exp(-margins)
    return factors
