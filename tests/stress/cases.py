"""A case: an estimator and a table, drawn from a number.

Some of the parameters of an estimator are given, the others left at their defaults: in some cases
nearly all of them, so that trees grow large, in others about half.
"""

from dataclasses import dataclass

import numpy as np

import weald
from stress.models import ROWS, Row
from stress.tables import MOST_ROWS, Table, make_table

TREES = (
    weald.DecisionTreeClassifier,
    weald.DecisionTreeRegressor,
    weald.ExtraTreeClassifier,
    weald.ExtraTreeRegressor,
)
ADABOOSTS = (weald.AdaBoostClassifier, weald.AdaBoostRegressor)
GIVEN = (0.04, 0.15, 0.45)  # chances of a parameter to be given


@dataclass(frozen=True)
class Case:
    """A table and an estimator that has not seen it."""

    seed: int
    table: Table
    estimator: object
    row: Row
    member: Row | None
    rng: np.random.Generator

    @property
    def own_trees(self):
        """The engine grows the trees; other members are fitted by themselves."""
        if self.member is None:
            return "param_grid" not in self.row.always
        member = self.estimator.estimator
        pruned = getattr(member, "ccp_alpha", 0.0) > 0 and isinstance(self.estimator, ADABOOSTS)
        boosted = isinstance(self.estimator, weald.GradientBoostingRegressor)
        return self.member.kind in TREES and not pruned and not boosted

    @property
    def foreign(self):
        """Members of another library."""
        return self.member is not None and not self.member.kind.__module__.startswith("weald")

    def __str__(self):
        return f"{self.estimator!r}\non a {self.table}".replace("\n         ", "")


# What lets trees grow large.
LARGE_TREES = {
    "max_leaf_nodes": [None, 300, 1000, 3000],
    "max_features": [None, None, 0.7],
    "max_bins": [None, 64, 255, 255],
}
LARGE = 0.2  # of the cases are about large trees


# Values that go together, or not at all: where the first holds, the second is taken away.
CLASHES = [
    (lambda s: s.get("bootstrap") is False, ("oob_score", "weighting")),
    (lambda s: s.get("step") == "newton" and s.get("loss") in ("absolute_error", "quantile"),
     ("step", "order")),
    (lambda s: s.get("loss") in ("absolute_error", "quantile"), ("order",)),
    (lambda s: "multi_strategy" in s, ("order", "monotonic_cst")),
    (lambda s: "min_weight_fraction_leaf" in s, ("order",)),
]  # fmt: skip
FORESTS = [
    row.kind for row in ROWS if "Forest" in row.kind.__name__ or "Trees" in row.kind.__name__
]


def pick(values, rng, table):
    if callable(values):
        return values(rng, table)
    return values[rng.integers(len(values))] if isinstance(values, list) else values


def draw_settings(row, rng, table, large=False):
    chance = GIVEN[0 if large else rng.integers(len(GIVEN))]
    chosen = {name: values for name, values in row.settings.items() if rng.random() < chance}
    if large:
        chosen |= {name: values for name, values in LARGE_TREES.items() if name in row.settings}
    given = {name: pick(values, rng, table) for name, values in (chosen | row.always).items()}
    if row.kind.__name__.startswith("ExtraTrees") and "bootstrap" not in given:
        given["bootstrap"] = "max_samples" in given or "oob_score" in given
    if row.kind in FORESTS and not given.get("bootstrap", True):
        given.pop("max_samples", None)
    for clash, names in CLASHES:
        if clash(given):
            for name in names:
                given.pop(name, None)
    return given


def reads_categories(kind):
    return "categorical_features" in kind().get_params()


def draw_member(member, rng, table, large):
    """The estimator of a member, with the table's categories if it reads them."""
    if member is None:
        return None
    settings = draw_settings(member, rng, table, large)
    if reads_categories(member.kind):
        settings |= table.settings
    return member.kind(**settings)


def draw_case(number):
    """The case of a number: the same on every machine."""
    rng = np.random.default_rng([20_000, number])
    times = np.array([row.times for row in ROWS], dtype=float)
    row = ROWS[rng.choice(len(ROWS), p=times / times.sum())]
    member = row.members[rng.integers(len(row.members))]
    plain = row.plain or (member is not None and member.plain)
    most = min(row.rows, MOST_ROWS if member is None else member.rows)
    large = most == MOST_ROWS and rng.random() < LARGE
    table = make_table(rng, row.targets, plain, most, dense=large)
    settings = draw_settings(row, rng, table, large and "max_bins" in row.settings)
    if reads_categories(row.kind):
        settings |= table.settings
    estimator = row.kind(**settings)
    if len(row.members) > 1 or row.members[0] is not None:
        chosen = draw_member(member, rng, table, large)
        if chosen is None and table.settings:  # the default member knows of no listed categories
            chosen = default_member(estimator, table)
        estimator.set_params(estimator=chosen)
        if chosen is not None and reads_categories(row.kind):  # the member is told, not the model
            estimator.set_params(categorical_features="from_dtype")
    return Case(number, table, estimator, row, member, rng)


def default_member(estimator, table):
    numbers = not table.classes or getattr(estimator, "algorithm", "") == "logit"
    kind = weald.DecisionTreeRegressor if numbers else weald.DecisionTreeClassifier
    depth = {"AdaBoost": 1, "Stagewise": 2}
    found = [d for name, d in depth.items() if type(estimator).__name__.startswith(name)]
    return kind(max_bins=255, max_depth=found[0] if found else None, **table.settings)
