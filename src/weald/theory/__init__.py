"""Theory at work: what theorems and identities say about a fitted model and its data.

Functions take a fitted ensemble (weald's, scikit-learn's, LightGBM's, XGBoost's or CatBoost's) and
rows, and return a :class:`~weald.theory.result.Result`: numbers, ``summary()`` in plain words,
``to_frame()`` and ``plot()``.
"""

from weald.theory.ambiguity import Ambiguity, ambiguity
from weald.theory.certificate import Certificate, certificate
from weald.theory.correlation import Correlation, Strength, correlation
from weald.theory.diversity import Diversity, diversity
from weald.theory.margins import Margins, margins
from weald.theory.reading import read_ensemble
from weald.theory.result import Result
from weald.theory.view import EnsembleView
from weald.theory.vote import VoteBounds, pac_bayes

__all__ = [
    "Ambiguity",
    "Certificate",
    "Correlation",
    "Diversity",
    "EnsembleView",
    "Margins",
    "Result",
    "Strength",
    "VoteBounds",
    "ambiguity",
    "certificate",
    "correlation",
    "diversity",
    "margins",
    "pac_bayes",
    "read_ensemble",
]
