"""Theory at work on 100,000 rows and 100 members: seconds and memory against what is promised."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import weald
from bench.data import Data, noisy_classes, noisy_numbers
from bench.measure import Memory, Timed
from bench.task import OURS, Contender, Settings, Task, nothing

ROWS, MEMBERS, THREADS = 100_000, 100, 2
SECONDS, MEGABYTES = 10.0, 1000.0


def classes(settings: Settings) -> Data:
    """Two classes."""
    return noisy_classes(settings.rows(ROWS))


def numbers(settings: Settings) -> Data:
    """One number."""
    return noisy_numbers(settings.rows(ROWS))


def forest(data: Data) -> Any:
    """Trees that vote."""
    model = weald.RandomForestClassifier(MEMBERS, random_state=0, n_jobs=THREADS)
    return model.fit(data.X, data.y)


def regression_forest(data: Data) -> Any:
    """Trees that are averaged."""
    model = weald.RandomForestRegressor(MEMBERS, random_state=0, n_jobs=THREADS)
    return model.fit(data.X, data.y)


def stumps(data: Data) -> Any:
    """Boosted stumps."""
    model = weald.AdaBoostClassifier(n_estimators=MEMBERS, random_state=0, n_jobs=THREADS)
    return model.fit(data.X, data.y)


def theory() -> Any:
    """The chapter; asked for late, since an older version beside this one may not have it."""
    return weald.theory


@dataclass(frozen=True)
class Notion:
    """One function of `weald.theory`, the data and model that it looks at, and its call."""

    name: str
    data: Callable[[Settings], Data]
    model: Callable[[Data], Any]
    look: Callable[[Data, Any], Any]

    def tasks(self) -> list[Task]:
        """Its rows: seconds, and memory."""
        contenders = [Contender(OURS, self.look, self.model, THREADS)]
        name = f"theory: {self.name}, 100k x 28, {MEMBERS} members"
        return [
            Timed(name, self.data, contenders, promise=SECONDS),
            Memory(f"{name}, memory", self.data, contenders, promise=MEGABYTES),
        ]


NOTIONS = (
    Notion("certificate", classes, stumps, lambda d, m: theory().certificate(m, d.X, d.y)),
    Notion("margins", classes, stumps, lambda d, m: theory().margins(m, d.X, d.y)),
    Notion("pac_bayes", classes, forest, lambda d, m: theory().pac_bayes(m, d.X, d.y)),
    Notion(
        "pac_bayes, tandem minimised",
        classes,
        forest,
        lambda d, m: theory().pac_bayes(m, d.X, d.y, weights="tandem"),
    ),
    Notion("diversity", classes, forest, lambda d, m: theory().diversity(m, d.X, d.y)),
    Notion(
        "correlation",
        numbers,
        regression_forest,
        lambda d, m: theory().correlation(m, d.X, d.y),
    ),
    Notion("ambiguity", numbers, regression_forest, lambda d, m: theory().ambiguity(m, d.X, d.y)),
    Notion("stability", numbers, regression_forest, lambda d, m: theory().stability(m, d.X)),
    Notion(
        "rademacher of stumps",
        classes,
        nothing,
        lambda d, _: theory().rademacher("stumps", d.X),
    ),
    Notion(
        "weak_learnability", classes, nothing, lambda d, _: theory().weak_learnability(d.X, d.y)
    ),
)

TASKS: list[Task] = [task for notion in NOTIONS for task in notion.tasks()]
