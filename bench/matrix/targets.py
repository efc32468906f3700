"""What is to be learned from a table, drawn from the hidden scores of its rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from bench.matrix.tables import SCORES
from bench.tasks.libraries import Kind

Draw = Callable[[np.random.Generator, np.ndarray], np.ndarray]
"""From standardised scores, rows x SCORES, to targets."""


@dataclass(frozen=True)
class Target:
    """One target.

    Parameters
    ----------
    name : str
        Name within the name of a cell.
    kind : {"classes", "numbers"}
        Whether classes or numbers are predicted.
    draw : callable
        Draws the targets.
    fewer : int
        By what the rounds of boosting are divided: each round has a tree per class or output.
    outputs : int
        Columns of the target.
    """

    name: str
    kind: Kind
    draw: Draw
    fewer: int = 1
    outputs: int = 1


def two_classes(rng: np.random.Generator, scores: np.ndarray) -> np.ndarray:
    """Two classes by the first score."""
    return (rng.random(len(scores)) < 1.0 / (1.0 + np.exp(-2.0 * scores[:, 0]))).astype(np.int64)


def classes(count: int) -> Draw:
    """So many classes, each with an effect of every score."""
    effects = 1.5 * np.random.default_rng(count).standard_normal((SCORES, count))

    def draw(rng: np.random.Generator, scores: np.ndarray) -> np.ndarray:
        drawn = np.argmax(scores @ effects + rng.gumbel(size=(len(scores), count)), axis=1)
        # Every class is there, however small the table: some libraries know only those they saw.
        drawn[:count] = np.arange(count)
        return np.asarray(drawn)

    return draw


def number(rng: np.random.Generator, scores: np.ndarray) -> np.ndarray:
    """The first score with noise of half its size."""
    return np.asarray(scores[:, 0] + 0.5 * rng.standard_normal(len(scores)))


def numbers(rng: np.random.Generator, scores: np.ndarray) -> np.ndarray:
    """All scores, each with noise of half its size."""
    return np.asarray(scores + 0.5 * rng.standard_normal(scores.shape))


TARGETS = (
    Target("2 classes", "classes", two_classes),
    Target("7 classes", "classes", classes(7), fewer=3),
    Target("20 classes", "classes", classes(20), fewer=10),
    Target("regression", "numbers", number),
    Target("5 outputs", "numbers", numbers, fewer=2, outputs=SCORES),
)
