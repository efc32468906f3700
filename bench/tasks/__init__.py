"""All tasks, in the order of the table. A new file of tasks joins this list."""

from __future__ import annotations

from bench.task import Task
from bench.tasks import adaboost, boosting, combining, forest, package, theory, tree

TASKS: list[Task] = [
    *tree.TASKS,
    *forest.TASKS,
    *adaboost.TASKS,
    *boosting.TASKS,
    *combining.TASKS,
    *theory.TASKS,
    *package.TASKS,
]
