"""Theory at work: what theorems and identities say about a fitted model and its data.

Functions take a fitted ensemble (weald's, scikit-learn's, LightGBM's, XGBoost's or CatBoost's) and
rows, and return a :class:`~weald.theory.result.Result`: numbers, ``summary()`` in plain words,
``to_frame()`` and ``plot()``.
"""

from weald.theory.reading import read_ensemble
from weald.theory.result import Result
from weald.theory.view import EnsembleView
from weald.theory.vote import VoteBounds, pac_bayes

__all__ = ["EnsembleView", "Result", "VoteBounds", "pac_bayes", "read_ensemble"]
