"""Theory at work: what theorems and identities say about a fitted model and its data.

Functions take a fitted ensemble (weald's, scikit-learn's, LightGBM's, XGBoost's or CatBoost's) and
rows, and return a :class:`~weald.theory.result.Result`: numbers, ``summary()`` in plain words,
``to_frame()`` and ``plot()``.
"""

from weald.theory.ambiguity_identity import Ambiguity, ambiguity
from weald.theory.bayes import BayesError, bayes_error
from weald.theory.boosting_certificate import Certificate, certificate
from weald.theory.forest_correlation import Correlation, Strength, correlation
from weald.theory.generalization import GeneralizationBound, generalization_bound
from weald.theory.jackknife import Stability, stability
from weald.theory.pairwise_diversity import Diversity, diversity
from weald.theory.rademacher_complexity import Rademacher, rademacher, rademacher_bound
from weald.theory.reading import read_ensemble
from weald.theory.repeated_fits import BiasVariance, bias_variance
from weald.theory.result import Result
from weald.theory.view import EnsembleView
from weald.theory.vote import VoteBounds, pac_bayes
from weald.theory.vote_margins import Margins, margins
from weald.theory.weak_learning import WeakLearnability, weak_learnability

__all__ = [
    "Ambiguity",
    "BayesError",
    "BiasVariance",
    "Certificate",
    "Correlation",
    "Diversity",
    "EnsembleView",
    "GeneralizationBound",
    "Margins",
    "Rademacher",
    "Result",
    "Stability",
    "Strength",
    "VoteBounds",
    "WeakLearnability",
    "ambiguity",
    "bayes_error",
    "bias_variance",
    "certificate",
    "correlation",
    "diversity",
    "generalization_bound",
    "margins",
    "pac_bayes",
    "rademacher",
    "rademacher_bound",
    "read_ensemble",
    "stability",
    "weak_learnability",
]
