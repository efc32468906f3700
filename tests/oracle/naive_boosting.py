"""Gradient boosting of trees that try every split: slow, short, easy to check by hand.

It shares no code with the engine; only the formulas of the losses are weald's own. A node's sums
are ``G = -sum w g`` and ``H = sum w h`` (order 2) or ``H = sum w`` (order 1), and the gain of a
split is ``1/2 [G_L^2/(H_L+l2) + G_R^2/(H_R+l2) - G^2/(H+l2)] - min_gain``. Leaves get their step
afterwards. Scores F have shape (n, K).
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice, permutations, product

import numpy as np

from oracle.cart import Split, candidate_splits, median_interval

SURE = 4.0  # the exact step of a leaf of one class, where the loss falls for ever
LONGEST = 10.0  # of Newton steps where predictions are exp(F)


@dataclass(frozen=True)
class Settings:
    """What a model is made with, by the names of the estimators."""

    n_estimators: int = 3
    learning_rate: float = 0.5
    order: int = 2
    step: str = "newton"
    l2: float = 0.0
    min_gain: float = 0.0
    min_hessian: float = 1e-3
    min_samples_leaf: int = 1
    max_depth: int | None = None
    max_leaf_nodes: int | None = None
    vector: bool = False  # one tree with K values per leaf, grown by order 1, instead of K trees
    floor: float = 0.0  # hessians are at least this
    smoothing: float = 0.0  # of categories: their order is by G / (H + this), and it adds to l2


@dataclass
class Node:
    """A node, its best split, and by how much that is better than any other partition of it."""

    rows: np.ndarray
    depth: int
    split: Split | None = None
    gain: float = -np.inf
    lead: float = np.inf
    children: list["Node"] = field(default_factory=list)

    def leaves(self) -> Iterator["Node"]:
        """From left to right."""
        if not self.children:
            yield self
        for child in self.children:
            yield from child.leaves()


@dataclass
class NaiveBoosting:
    """Scores of the training rows after 0, 1, ... rounds, and the trees of every round."""

    scores: list[np.ndarray]
    trees: list[list[Node]] = field(default_factory=list)
    values: list[list[np.ndarray]] = field(default_factory=list)
    leads: list[float] = field(default_factory=list)  # the smallest of any decision of a round

    @property
    def lead(self) -> float:
        """The smallest of all: below rounding, some decision was a tie."""
        return min(self.leads)


# --- one tree -------------------------------------------------------------------------------------


def score(G: np.ndarray, H: np.ndarray, l2: float | np.ndarray) -> np.ndarray:
    """``1/2 sum_k G_k^2 / (H_k + l2)``, what a leaf lowers the loss by; nothing if it is empty."""
    whole = H + l2
    return 0.5 * np.sum(np.divide(G**2, whole, out=np.zeros_like(G), where=whole > 0), axis=-1)


MOST_ORDERS = 200


def category_orders(x, g, h, codes: np.ndarray, smoothing: float) -> Iterator[list[int]]:
    """Categories by ``G / (H + smoothing)``; equals in all orders, lowest code first."""
    ratio = np.array([g[x == c].sum() / max(h[x == c].sum() + smoothing, 1e-300) for c in codes])
    step = np.diff(np.sort(ratio), prepend=-np.inf) > 1e-9 * np.abs(ratio).max(initial=0)
    rank = np.empty(len(codes), dtype=int)
    rank[np.argsort(ratio, kind="stable")] = np.cumsum(step)
    groups = [codes[rank == r].tolist() for r in np.unique(rank)]
    for parts in product(*map(permutations, groups)):
        yield [code for part in parts for code in part]


def category_splits(x: np.ndarray, order: list[int], rare: list[int], j: int) -> Iterator[Split]:
    """Prefixes of the categories; rare ones go with the missing, right, then left."""
    prefixes = [frozenset(order[:k]) for k in range(1, len(order) + 1)]
    others = bool(np.isnan(x).any()) or bool(rare)
    for left in prefixes if others else prefixes[:-1]:
        yield Split(j, left_codes=left)
    for left in prefixes[:-1] if others else ():
        yield Split(j, left_codes=left.union(rare), missing_left=True)


def all_splits(X, c, h, w, kinds, smoothing, enough) -> Iterator[tuple[Split, int]]:
    """Every split of every column, and by which of the orders of equal categories it is one."""
    for j, categorical in enumerate(kinds):
        x = X[:, j]
        if not categorical:
            yield from ((split, 0) for split in candidate_splits(x, w, j, False))
            continue
        g, hs = c.sum(axis=1), h.sum(axis=1)
        codes = np.unique(x[~np.isnan(x)]).astype(int)
        common = np.array([hs[x == code].sum() >= enough * (1 - 1e-12) for code in codes], bool)
        rare = codes[~common].tolist()
        orders = islice(category_orders(x, g, hs, codes[common], smoothing), MOST_ORDERS)
        for number, order in enumerate(orders):
            yield from ((split, number) for split in category_splits(x, order, rare, j))


def best_split(node, X, c, h, w, kinds, s: Settings) -> None:
    """Look through every split of every column; of equals the first wins."""
    rows = node.rows
    # A category is rare if it has less H than `smoothing` rows of weight 1 have on average.
    enough = s.smoothing * h.sum() / w.sum()
    c, h, w, X = c[rows], h[rows], w[rows], X[rows]
    if len(rows) < 2 * s.min_samples_leaf or node.depth == s.max_depth:
        return
    found = list(all_splits(X, c, h, w, kinds, s.smoothing, enough))
    if not found or np.ptp(c / h, axis=0).max() <= 1e-12 * np.abs(c / h).max():
        return  # nothing to tell apart
    left = np.array([split.goes_left(X) for split, _ in found])
    sides = [(side @ c, side @ h, side.sum(axis=1)) for side in (left, ~left)]
    here = score(c.sum(axis=0), h.sum(axis=0), s.l2)
    l2 = np.array([s.l2 + s.smoothing * kinds[split.feature] for split, _ in found])[:, None]
    gains = sum(score(G, H, l2) for G, H, _ in sides) - here - s.min_gain
    for _, H, n in sides:
        gains[(n < max(s.min_samples_leaf, 1)) | (H.min(axis=1) < s.min_hessian)] = -np.inf
    scale = float(score(c, h, s.l2).sum()) + s.min_gain  # what single rows would gain: more
    for (split, order), gain in zip(found, gains, strict=True):
        if order == 0 and gain > max(node.gain, 0) + 1e-12 * scale:
            node.split, node.gain = split, float(gain)
    # The same partition counts once; 0 is not to split at all.
    partitions = [min(one.tobytes(), (~one).tobytes()) for one in left]
    same = dict(zip(partitions, gains, strict=True))
    rivals = sorted([0.0, *same.values()])
    node.lead = (max(node.gain, 0) - rivals[-2]) / scale  # below 0: by another order
    if node.split is not None and not in_every_order(node, found, gains, 1e-12 * scale):
        node.lead = 0.0


def in_every_order(node, found, gains, close) -> bool:
    """Whether each order of equal categories offers a split that is as good.

    Limits of leaves may forbid some of them, and how equals are ordered is up to rounding.
    """
    best: dict[int, float] = {}
    for (split, order), gain in zip(found, gains, strict=True):
        if split.feature == node.split.feature:
            best[order] = max(best.get(order, -np.inf), gain)
    return len(best) < MOST_ORDERS and min(best.values()) >= node.gain - close


def grow(X, c, h, w, kinds, s: Settings) -> tuple[Node, float]:
    """Best node first; c and h have a column per score. Also the smallest lead of a decision."""
    root = Node(np.flatnonzero(w > 0), 0)
    best_split(root, X, c, h, w, kinds, s)
    frontier, leaves, lead = [root], 1, root.lead
    while frontier and leaves < (s.max_leaf_nodes or np.inf):
        gains = [node.gain for node in frontier]
        node = frontier.pop(int(np.argmax(gains)))
        if node.split is None:
            break
        if s.max_leaf_nodes is not None and len(gains) > 1:
            lead = min(lead, 1 - sorted(gains)[-2] / max(gains))
        left = node.split.goes_left(X[node.rows])
        for part in (node.rows[left], node.rows[~left]):
            child = Node(part, node.depth + 1)
            best_split(child, X, c, h, w, kinds, s)
            node.children.append(child)
            frontier.append(child)
            lead = min(lead, child.lead)
        leaves += 1
    return root, lead


# --- steps ----------------------------------------------------------------------------------------


def lowest(slope, low: float, high: float) -> float:
    """Middle of the stretch on which a convex function is least, from the sign of its slope."""

    def edge(beyond) -> float:
        a, b = low, high
        for _ in range(200):
            middle = (a + b) / 2
            a, b = (a, middle) if beyond(slope(middle)) else (middle, b)
        return (a + b) / 2

    return (edge(lambda m: m >= 0) + edge(lambda m: m > 0)) / 2


def best_shift(loss, y, F, h, w, reach: float) -> float:
    """``argmin_v sum w l(y, F + v h)``; rounding of a sum of pulls that cancel is no pull."""

    def slope(v: float) -> float:
        pulls = (w * np.atleast_2d((loss.gradient(y, F + v * h) * h).T)).ravel()
        return 0.0 if abs(pulls.sum()) <= 1e-13 * np.abs(pulls).sum() else float(pulls.sum())

    return lowest(slope, -reach, reach)


def huber_step(residual: np.ndarray, w: np.ndarray, delta: float) -> float:
    """Friedman (2001), algorithm 4: the median, and the mean of what is left, cut off at delta."""
    median = np.mean(median_interval(residual, w))
    return float(median + np.average(np.clip(residual - median, -delta, delta), weights=w))


def leaf_values(loss, y, F, g, h, w, root: Node, k: int, s: Settings) -> np.ndarray:
    """The step of every leaf, before shrinkage."""
    out = []
    for leaf in root.leaves():
        r = leaf.rows
        if s.step == "newton" or (s.step == "line_search" and s.order == 2):
            value = -(w[r] @ g[r, k]) / (w[r] @ h[r, k] + s.l2)
            out.append(np.clip(value, -LONGEST, LONGEST) if loss.link.name == "log" else value)
        elif s.step == "exact" and loss.name == "huber":
            out.append(huber_step(y[r] - F[r, k], w[r], loss.delta))
        elif s.step == "exact":
            reach = np.abs(y[r] - F[r, k]).max() + 1.0 if loss.link.name == "identity" else 30.0
            value = best_shift(loss, y[r], F[r, k], np.ones(len(r)), w[r], reach)
            if loss.kind != "regression" and abs(value) > 16:
                value = np.copysign(SURE, value)
            out.append(value)
        else:
            out.append(-(w[r] @ g[r, k]) / (w[r].sum() + s.l2))
    return np.array(out)


def derivatives(loss, y, F, floor=0.0) -> tuple[np.ndarray, np.ndarray | None]:
    """Gradient and hessian of shape (n, K); None if the loss has none."""
    flat = F if loss.kind == "multiclass" else F[:, 0]
    g = loss.gradient(y, flat).reshape(F.shape)
    if not loss.has_hessian:
        return g, None
    return g, np.maximum(loss.hessian(y, flat).reshape(F.shape), floor)


def naive_boosting(X, y, loss, s: Settings, w=None, kinds=None, init=None) -> NaiveBoosting:
    """Fit; rows of weight 0 are absent. Targets are numbers, 0 and 1, or class codes."""
    w = np.ones(len(y)) if w is None else np.asarray(w, dtype=float)
    kinds = [False] * X.shape[1] if kinds is None else kinds
    start = np.atleast_1d(loss.constant(y, w) if init is None else init)
    F = np.tile(start.astype(float), (len(y), 1)) if start.ndim == 1 else start.astype(float)
    out = NaiveBoosting([F])
    for _ in range(s.n_estimators):
        g, h = derivatives(loss, y, F, s.floor)
        weight = h if s.order == 2 and not s.vector else np.ones_like(g)
        c, H = -w[:, None] * g, w[:, None] * weight
        groups = [slice(None)] if s.vector else [slice(k, k + 1) for k in range(F.shape[1])]
        grown = [grow(X, c[:, part], H[:, part], w, kinds, s) for part in groups]
        trees = [root for root, _ in grown]
        out.leads.append(min(lead for _, lead in grown))
        values, part = [], np.zeros_like(F)
        for k in range(F.shape[1]):
            root = trees[0] if s.vector else trees[k]
            values.append(leaf_values(loss, y, F, g, h, w, root, k, s))
            for leaf, value in zip(root.leaves(), values[k], strict=True):
                part[leaf.rows, k] = value
        nu = s.learning_rate
        if s.step == "line_search":
            flat = (F, part) if loss.kind == "multiclass" else (F[:, 0], part[:, 0])
            reach = 64 / max(np.abs(part).max(), 1e-300)
            length = best_shift(loss, y, *flat, w, reach)
            nu *= length
            if (
                length > 0.999 * reach
            ):  # the loss falls for ever: how far to go is a matter of taste
                out.leads[-1] = 0.0
        F = F + nu * part
        out.scores.append(F)
        out.trees.append(trees)
        out.values.append([nu * v for v in values])
    return out
