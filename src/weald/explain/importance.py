"""Which columns a model relies on: impurity decrease, its unbiased version, permutation.

Of forests each kind credits every member's columns by itself, so the spread over members gives a
standard error.  It says how much a larger ensemble could still change the figures; it does not say
how much another sample of rows would.  Permutation can be asked of any model on any rows as well:
the spread is then over the shuffles.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from weald._engine import FloatArray, IntArray
from weald.explain._member_importance import (
    forest_of,
    permutation,
    read_rows,
    sampling_of,
    unbiased,
)
from weald.explain._row_importance import RowScore
from weald.params.columns import Columns as ColumnNames
from weald.params.extras import axes_or_new, import_extra
from weald.params.growth import check_count, check_flag

Kind = Literal["impurity", "unbiased", "permutation"]
Columns = Sequence[int | str]
Spread = Literal["members", "shuffles"]

_CLEAR = 2.0  # standard errors above 0 that the reading calls clearly above 0
_NAMED = 3  # columns the reading names
_SHUFFLES = 5  # of a whole model, if nobody says how many


@dataclass(frozen=True, eq=False)
class Importance:
    """How much each column (or group of columns) matters to a model."""

    kind: Kind
    """How it was measured."""
    names: tuple[str, ...]
    """Names of the columns or groups."""
    per_member: FloatArray
    """Importance for each member, shape (T, n_names); NaN where a member drew every row. If the
    whole model was scored, importance by each shuffle, shape (n_repeats, n_names)."""
    over: Spread = "members"
    """What the standard errors are over."""
    score: str = ""
    """What was scored on the rows, if the whole model was."""

    @cached_property
    def mean(self) -> FloatArray:
        """Mean over the members, or the shuffles."""
        mean: FloatArray = self._tried.mean(axis=0)
        return mean

    @cached_property
    def std_error(self) -> FloatArray:
        """Standard error of the mean, over members or shuffles; NaN for a single one."""
        n = len(self._tried)
        if n < 2:
            return np.full(len(self.names), np.nan)
        error: FloatArray = self._tried.std(axis=0, ddof=1) / np.sqrt(n)
        return error

    @property
    def _tried(self) -> FloatArray:
        return self.per_member[~np.isnan(self.per_member).any(axis=1)]

    def ranking(self) -> list[tuple[str, float]]:
        """Names with their mean importance, the largest first."""
        order = np.argsort(-self.mean, kind="stable")
        return [(self.names[j], float(self.mean[j])) for j in order]

    def as_frame(self) -> Any:
        """A pandas data frame with name, mean and standard error, the largest first."""
        pd = import_extra("pandas", "as_frame")
        table = {"mean": self.mean, "std_error": self.std_error}
        frame = pd.DataFrame(table, index=pd.Index(self.names, name="name"))
        return frame.sort_values("mean", ascending=False, kind="stable")

    @property
    def reading(self) -> str:
        """The result in plain words."""
        order = np.argsort(-self.mean, kind="stable")[:_NAMED]
        alone = len(self._tried) == 1
        first = ", ".join(
            f"{self.names[j]} ({self.mean[j]:.3g}"
            + (")" if alone else f" ± {self.std_error[j]:.1g})")
            for j in order
        )
        what = _OF_ROWS.format(self.score) if self.score else _WHAT_IT_IS[self.kind]
        words = f"{what} Most important: {first}."
        if alone:
            return words
        if self.kind != "impurity":
            dim = int(np.count_nonzero(~(self.mean > _CLEAR * self.std_error)))
            words += (
                f" {dim} of {len(self.names)} are not clearly above 0 (less than {_CLEAR:g} "
                "standard errors), as befits a column that says nothing new about the target."
            )
        return (
            f"{words} The standard errors are over the {len(self._tried)} {self.over}: they tell "
            f"what more {self.over} could change, not what other data could."
        )

    def __str__(self) -> str:
        return self.reading

    def plot(self, ax: Any = None, top: int = 20) -> Any:
        """Draw the largest importances as bars, with one standard error to each side.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            A new figure by default.
        top : int
            How many to draw.

        Returns
        -------
        matplotlib Axes
        """
        check_count("top", top, least=1)
        order = np.argsort(-self.mean, kind="stable")[:top][::-1]  # barh starts at the bottom
        ax = axes_or_new(ax, "plot", (6, 1 + 0.28 * len(order)))
        spread = np.nan_to_num(self.std_error[order])
        ax.barh(np.arange(len(order)), self.mean[order], xerr=spread, color="0.6", ecolor="0.2")
        ax.set_yticks(np.arange(len(order)), [self.names[j] for j in order], parse_math=False)
        ax.axvline(0.0, color="0.2", linewidth=0.8)
        ax.set_xlabel(f"{self.kind} importance")
        return ax


_WHAT_IT_IS: dict[Kind, str] = {
    "impurity": (
        "The impurity decrease of the splits on a column, summed over a tree and averaged over the "
        "trees. It is measured on the rows that chose the splits, so it is never negative and "
        "flatters columns of many values, noise included; kind='unbiased' does not."
    ),
    "unbiased": (
        "The impurity decrease of the splits on a column as the rows see it that did not choose "
        "them. A column of pure noise gets about 0, whatever the number of its values."
    ),
    "permutation": (
        "The rise of a member's out-of-bag error when the values of a column are shuffled among "
        "its out-of-bag rows. Columns that carry the same information stand in for each other and "
        "share the credit; shuffle them together (groups=) to see what they do as one."
    ),
}

_OF_ROWS = (
    "The fall of {} on these rows when the values of a column are shuffled among them. Columns "
    "that carry the same information stand in for each other and share the credit; shuffle them "
    "together (groups=) to see what they do as one."
)


def column_importance(
    estimator: Any,
    X: Any = None,
    y: Any = None,
    kind: Kind | None = None,
    *,
    groups: Mapping[str, Columns] | Sequence[Columns] | None = None,
    n_repeats: int | None = None,
    random_state: Any = None,
    sample_weight: Any = None,
    scoring: Any = None,
    out_of_bag: bool | None = None,
    n_jobs: int | None = None,
) -> Importance:
    """Measure how much each column matters to a fitted model.

    Any model will do for "permutation": one tree, all ensembles, stacks and super learners,
    pipelines, and estimators of other libraries. The other kinds read the trees of an ensemble.

    "impurity" (Breiman et al. 1984): ``1/T sum_t sum_node (W_node / W) gain`` over the nodes that
    split on the column.

    "unbiased" (after MDI-oob, Li et al. 2019): the same sum as the out-of-bag rows see it.  With
    squared error, and classes as one 0/1 target each (Gini impurity), a node m with children l and
    r of mean target mu has

        (W_m / W) gain = 1/W (W_l W_r / W_m) (mu_l - mu_r) . (mu_l - mu_r).

    The first difference is what the split promises; the second becomes the difference between the
    means of the *out-of-bag* targets in l and r, and the weights W those of the out-of-bag rows.
    Their targets had no part in choosing the split, so a column that says nothing about the target
    gets 0 on average, however many values it has.  (Li et al. sum ``(mu_c - mu_m) . y_i`` over the
    rows i of each child c.  Here the out-of-bag mean of the node is taken off y_i first.  In the
    bag that changes nothing; out of it, it takes away a bias of that sum, which comes from small
    children getting more rows than in the bag, and most of its noise.  Zhou and Hooker's 2021
    impurity ``1 - sum_k p_k p'_k``, p' out of the bag, leads to Li's sum for classes, but for the
    weights of the nodes.)  Whatever the forest's criterion, the unit
    is that of squared error or Gini impurity.

    "permutation" (Breiman 2001): the error of each member on its out-of-bag rows after the column
    was shuffled among them, minus the error before; share of wrong labels, or mean squared error.
    The mean divided by its standard error is Breiman's z-score; it grows with the number of
    members, so it is no test of significance.

    "permutation" on any rows: the score of the whole model on the rows as they are, minus the score
    after the column was shuffled among them.

    Parameters
    ----------
    estimator : fitted classifier or regressor
    X, y : rows
        For "unbiased", and for "permutation" out of the bag, those of the fit, all of them and in
        their order. Not needed for "impurity".
    kind : {"impurity", "unbiased", "permutation"}, optional
        By default "permutation" if X is given, else "impurity".
    groups : dict {name: columns} or list of lists of columns, optional
        Columns, by name or number, that count (and are shuffled) together. Columns in no group
        count by themselves.
    n_repeats : int, optional
        Shuffles per column: by default 5 of a whole model, and 1 for each member, averaged.
    random_state : int, RandomState or None
        For the shuffles; an int gives the same result each time, for any number of threads.
    sample_weight : array-like of shape (n,), optional
        How much rows count in errors and scores; those of weight 0 are absent.
    scoring : str, callable or None
        Score of a whole model: the name of a scorer of scikit-learn, or a function of model, X and
        y. None is what the model's ``score`` says, accuracy or R².
    out_of_bag : bool, optional
        Whether "permutation" looks at each member on the rows it did not draw, which must then be
        those of the fit, or at the whole model on the rows as they are. By default out of the bag
        if members drew rows, X has as many as they drew from and `scoring` is None. So say False
        for new rows that happen to be as many.
    n_jobs : int, optional
        Shuffled tables that are scored at the same time (the model may use threads of its own for
        each of them). The result is the same for any number.

    Returns
    -------
    Importance
        Print it for a paragraph in plain words.

    References
    ----------
    L. Breiman (2001), Random forests, Machine Learning 45.
    X. Li, Y. Wang, S. Basu, K. Kumbier & B. Yu (2019), A debiased MDI feature importance measure
    for random forests, NeurIPS 32.
    Z. Zhou & G. Hooker (2021), Unbiased measurement of feature importance in tree-based methods,
    ACM Transactions on Knowledge Discovery from Data 15.
    """
    check_is_fitted(estimator)
    if n_repeats is not None:
        check_count("n_repeats", n_repeats, least=1)
    if kind is None:
        kind = "impurity" if X is None else "permutation"
    seed = int(check_random_state(random_state).randint(2**31 - 1))
    if kind == "permutation" and not _looks_out_of_bag(estimator, X, scoring, out_of_bag):
        score = RowScore(estimator, X, y, sample_weight, scoring)
        known = getattr(estimator, "feature_names_in_", score.names)
        names, columns = _read_groups(score.table.shape[1], known, groups)
        falls = score.falls(columns, n_repeats or _SHUFFLES, seed, n_jobs)
        falls.flags.writeable = False
        return Importance(kind, names, falls, "shuffles", _score_name(estimator, scoring))
    d, known = int(estimator.n_features_in_), getattr(estimator, "feature_names_in_", None)
    names, columns = _read_groups(d, known, groups)
    if kind == "impurity":
        per_member = _sum_columns(forest_of(estimator, kind).importances, columns)
    elif kind == "unbiased":
        rows = read_rows(estimator, X, y, sample_weight, kind)
        per_member = _sum_columns(unbiased(estimator, rows), columns)
    elif kind == "permutation":
        rows = read_rows(estimator, X, y, sample_weight, kind)
        per_member = permutation(estimator, rows, columns, n_repeats or 1, seed)
    else:
        raise ValueError(f"kind must be 'impurity', 'unbiased' or 'permutation', got {kind!r}.")
    if np.isnan(per_member).any(axis=1).all():
        raise ValueError(
            f"kind={kind!r} needs out-of-bag rows, but every member drew all of them: use more."
        )
    per_member.flags.writeable = False
    return Importance(kind, names, per_member)


# --- what is asked about -----------------------------------------------------------------------


def _looks_out_of_bag(estimator: Any, X: Any, scoring: Any, asked: bool | None) -> bool:
    """Whether permutation is to look at members, on the rows they did not draw."""
    if asked is not None:
        if check_flag("out_of_bag", asked) and scoring is not None:
            raise ValueError(
                "scoring is for whole models: out of the bag members are judged by their error; "
                "leave scoring at None, or use out_of_bag=False."
            )
        return asked
    sampling = sampling_of(estimator)
    if sampling is None or not sampling.draws_rows or scoring is not None:
        return False
    return X is None or _n_rows(X) == sampling.n_rows


def _n_rows(X: Any) -> int:
    shape = getattr(X, "shape", None)
    return int(shape[0]) if shape else len(X)


def _score_name(estimator: Any, scoring: Any) -> str:
    if scoring is None:
        return "accuracy" if is_classifier(estimator) else "R²"
    return scoring if isinstance(scoring, str) else getattr(scoring, "__name__", "the score")


def _read_groups(d: int, given: Any, groups: Any) -> tuple[tuple[str, ...], list[IntArray]]:
    """Names of the groups and the numbers of their columns; single columns after the groups."""
    labels = [f"feature_{j}" for j in range(d)] if given is None else [str(name) for name in given]
    find = ColumnNames(np.zeros(d, dtype=bool), labels).find

    named: list[tuple[str | None, Any]] = []
    if isinstance(groups, Mapping):
        named = [(str(name), members) for name, members in groups.items()]
    elif groups is not None:
        named = [(None, members) for members in groups]
    names, columns = [], []
    for name, members in named:
        if isinstance(members, str) or not np.iterable(members) or len(list(members)) == 0:
            raise ValueError(
                "groups must be a list of lists of columns, or a dict {name: list of columns}; "
                f"{members!r} is no list of columns."
            )
        found = list(dict.fromkeys(find("groups", one) for one in members))
        names.append(" + ".join(labels[j] for j in found) if name is None else name)
        columns.append(np.array(found, dtype=np.int64))
    grouped = {int(j) for found in columns for j in found}
    for j in range(d):
        if j not in grouped:
            names.append(labels[j])
            columns.append(np.array([j], dtype=np.int64))
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise ValueError(
            f"groups gives the name {twice[0]!r} to more than one thing: choose a name that no "
            "other group and no column has."
        )
    return tuple(names), columns


def _sum_columns(importances: FloatArray, columns: list[IntArray]) -> FloatArray:
    """Impurity decrease is a sum over nodes, so that of a group is the sum over its columns."""
    return np.stack([importances[:, group].sum(axis=1) for group in columns], axis=1)
