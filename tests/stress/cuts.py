"""The quality of splits: NumPy looks through all cuts of the nodes of a finished tree.

All nodes are looked at together. The rows of each are put in order, column by column, and running
sums give the score of every cut.
"""

from dataclasses import dataclass

import numpy as np

from oracle.categories import FREE, merged, noise, price
from stress.finished import must


def score(G, H, criterion, l2):
    """Scores of sums G of shape (..., channels) and weights H: greater is purer."""
    H = np.maximum(H, 1e-300)
    if criterion == "gradient":
        return G[..., 0] ** 2 / (H + l2)
    if criterion in ("gini", "squared_error"):
        return (G**2).sum(axis=-1) / H
    if criterion == "misclassification":
        return G.max(axis=-1)
    if criterion == "poisson":
        return (G * np.log(np.maximum(G, 1e-300) / H[..., None])).sum(axis=-1)
    G = np.maximum(G, 0)
    logs = np.log2(G, out=np.zeros_like(G), where=G > 0)
    return (G * logs).sum(axis=-1) - H * np.log2(H)


@dataclass(frozen=True)
class Nodes:
    """Some nodes, their rows, and the terms of these.

    `number` is the node of each pair, `terms` are the channels (pairs, k) of each output; `H`, `G`
    and `n` are the sums of the nodes.
    """

    lesson: object
    chosen: np.ndarray
    row: np.ndarray
    number: np.ndarray
    terms: list
    w: np.ndarray

    @staticmethod
    def of(lesson, row, node, chosen):
        place = np.full(lesson.tree.node_count, -1)
        place[chosen] = np.arange(len(chosen))
        inside = place[node] >= 0
        row, number = row[inside], place[node[inside]]
        return Nodes(lesson, chosen, row, number, terms_of(lesson, row, number), lesson.w[row])

    def sums(self, mask):
        """H, G and n of the marked pairs, node by node."""
        m, number = len(self.chosen), self.number[mask]
        G = [
            np.column_stack([np.bincount(number, c, minlength=m) for c in part[mask].T])
            for part in self.terms
        ]
        counts = np.bincount(number, minlength=m)
        return np.bincount(number, self.w[mask], minlength=m), G, counts

    def score(self, H, G):
        lesson = self.lesson
        return sum(score(g, H, lesson.criterion, lesson.l2) for g in G)


def terms_of(lesson, row, number):
    """What each pair adds to its node, one array of channels for each output."""
    w = lesson.w[row]
    if lesson.criterion == "gradient":
        return [lesson.Y[row]]
    if lesson.classes:
        every = enumerate(lesson.classes)
        return [w[:, None] * (lesson.Y[row, k, None] == np.arange(n)) for k, n in every]
    parts = []
    for y in lesson.Y[row].T:
        if lesson.criterion == "squared_error":  # from the mean of the node, for the sake of digits
            y = y - (np.bincount(number, w * y) / np.bincount(number, w))[number]
        parts.append((w * y)[:, None])
    return parts


def least_rows(lesson):
    least = lesson.rules.get("min_samples_leaf", 1)
    return least if isinstance(least, int) else np.ceil(least * lesson.extra["rows"])


def allowed(lesson, n, H, G):
    """Sides with enough rows, weight, and what a Poisson leaf needs."""
    fine = (n >= least_rows(lesson)) & (H > 0)
    share = lesson.rules.get("min_weight_fraction_leaf") or 0.0
    if share:
        fine &= share * lesson.w.sum() * (1 + 1e-6) < H
    if lesson.criterion == "gradient":
        fine &= lesson.extra["min_hessian"] * (1 + 1e-5) < H
    if lesson.criterion == "poisson":
        nothing = 1e-10 * (lesson.w[:, None] * lesson.Y).sum()  # but for rounding
        fine &= np.all([g[..., 0] > nothing for g in G], axis=0)
    return fine


def has_many(lesson, j):
    """Say whether it is a column of many categories."""
    return lesson.categorical[j] and lesson.tree.n_categories[j] > FREE


def codes(lesson, j):
    """The column, with what the engine takes for one category as one."""
    x = lesson.X[:, j]
    if not has_many(lesson, j):
        return x
    return merged(x, lesson.tree.n_categories[j], lesson.extra["binned by"])


def prices(nodes, j):
    """What a cut of a column has to gain in each node, beside nothing."""
    lesson, m = nodes.lesson, len(nodes.chosen)
    if not has_many(lesson, j) or lesson.criterion == "gradient":
        return np.zeros(m)
    x = codes(lesson, j)[nodes.row]
    there = ~np.isnan(x)
    pairs = np.unique(np.column_stack([nodes.number[there], x[there]]), axis=0)
    categories = np.bincount(pairs[:, 0].astype(int), minlength=m)
    H, G, _ = nodes.sums(slice(None))
    outputs = len(nodes.terms)
    if lesson.criterion == "poisson":
        found = np.zeros(m)
        for i in range(m):
            row = nodes.row[nodes.number == i]
            found[i] = noise("poisson", 0.0, outputs, lesson.Y[row], lesson.w[row])
    else:
        shares = [g / H[:, None] for g in G] if lesson.criterion == "gini" else None
        impurity = (alone(nodes) - nodes.score(H, G)) / H
        found = noise(lesson.criterion, impurity, outputs, shares=shares)
    return price(categories, found, lesson.extra["row weight"])


def alone(nodes):
    """The sum of what the rows of each node score by themselves."""
    w = np.maximum(nodes.w, 1e-300)
    rows = nodes.score(nodes.w, nodes.terms)
    if nodes.lesson.criterion == "squared_error":
        rows = sum((part**2).sum(axis=1) for part in nodes.terms) / w
    return np.bincount(nodes.number, rows, minlength=len(nodes.chosen))


def keys(nodes, j):
    """What a column is cut by: its values, or in each node the means of its categories."""
    lesson = nodes.lesson
    x = codes(lesson, j)[nodes.row]
    if not lesson.categorical[j]:
        return x
    there = ~np.isnan(x)
    code = np.where(there, x, 0).astype(int)
    place = nodes.number * (code.max(initial=0) + 1) + code
    C = np.bincount(place[there], nodes.terms[0][there, -1], minlength=place.max() + 1)
    H = np.bincount(place[there], nodes.w[there], minlength=place.max() + 1)
    return np.where(there, C[place] / np.maximum(H[place], 1e-300), np.nan)


def best_cuts(nodes, j, before):
    """The best score after an allowed cut of a column, less its price, for every node."""
    lesson, best = nodes.lesson, np.full(len(nodes.chosen), -np.inf)
    x = keys(nodes, j)
    there = np.flatnonzero(~np.isnan(x))
    if len(there) == 0:
        return best
    order = there[np.lexsort((x[there], nodes.number[there]))]
    number, x = nodes.number[order], x[order]
    same_node = number[1:] == number[:-1]
    near = 1e-9 * (np.abs(x[1:]) + np.abs(x[:-1])) if lesson.categorical[j] else 0.0
    last = np.flatnonzero(np.r_[~(same_node & (x[1:] - x[:-1] <= near)), True])
    begin = np.searchsorted(number, number[last])
    end = np.r_[~same_node[last[:-1]], True]  # all that is present on the left

    def running(terms):
        """Sums from the beginning of the node up to each cut."""
        whole = np.concatenate([np.zeros((1, terms.shape[1])), np.cumsum(terms[order], axis=0)])
        return whole[last + 1] - whole[begin]

    H, G, n = running(nodes.w[:, None])[:, 0], [*map(running, nodes.terms)], last + 1 - begin
    at = number[last]
    prices_of_all = prices(nodes, j)
    all_H, all_G, all_n = (part_at(part, at) for part in nodes.sums(slice(None)))
    missing = np.ones(len(nodes.row), dtype=bool)
    missing[there] = False
    no_H, no_G, no_n = (part_at(part, at) for part in nodes.sums(missing))
    for left in (False, True):  # missing values on the left
        one_n, one_H = n + left * no_n, H + left * no_H
        one_G = [g + left * lost for g, lost in zip(G, no_G, strict=True)]
        other_G = [whole - g for whole, g in zip(all_G, one_G, strict=True)]
        fine = ~end if left else ~end | (no_n > 0)
        fine = fine & allowed(lesson, one_n, one_H, one_G)
        fine &= allowed(lesson, all_n - one_n, all_H - one_H, other_G)
        scores = nodes.score(one_H, one_G) + nodes.score(all_H - one_H, other_G)
        charged = np.where(end, 0.0, prices_of_all[at])  # to set missing values apart is free
        scores = scores - charged
        fine &= (charged == 0) | (scores > before[at])
        np.maximum.at(best, at[fine], scores[fine])
    return best


def part_at(part, at):
    return [g[at] for g in part] if isinstance(part, list) else part[at]


# --- which nodes and columns ----------------------------------------------------------------------


def searched(lesson):
    """Columns of which every cut was looked at; none if the tree did not look at all columns."""
    rules = lesson.rules
    if not lesson.extra.get("searches all") or rules.get("monotonic_cst") is not None:
        return []
    if lesson.criterion == "absolute_error":
        return []
    if isinstance(rules.get("min_samples_leaf"), float) and "rows" not in lesson.extra:
        return []
    ordered = lesson.classes == (2,)
    ordered |= not lesson.classes and lesson.Y.shape[1] == 1 and lesson.criterion != "gradient"
    bins = rules.get("max_bins")
    found = []
    for j, categorical in enumerate(lesson.categorical):
        x = lesson.X[:, j]
        apart = bins is None or len(np.unique(x[~np.isnan(x)])) <= bins
        known = not has_many(lesson, j) or lesson.extra.get("binned by") is not None
        if apart and known and (ordered or not categorical):
            found.append(j)
    return found


def open_nodes(lesson):
    """Nodes that were split, and leaves that no limit has made leaves."""
    tree, rules = lesson.tree, lesson.rules
    inner = tree.children_left >= 0
    if lesson.criterion == "gradient":
        # Categories are judged with more regularisation.
        by_category = np.array([*lesson.categorical, False])[np.maximum(tree.feature, -1)]
        return inner & ~by_category
    if not lesson.extra.get("leaves had a choice"):
        return inner
    enough = [rules.get("min_samples_split", 2), 2 * rules.get("min_samples_leaf", 1)]
    if any(isinstance(number, float) for number in enough):
        return inner
    may = (tree.depth < (rules.get("max_depth") or np.inf)) & (tree.n_node_samples >= max(enough))
    return inner | (may & (tree.impurity > 1e-9))


def some_nodes(lesson, node, columns, budget, rng):
    """As many nodes as the budget of (row, column) pairs allows, in random order."""
    wanted = rng.permutation(np.flatnonzero(open_nodes(lesson)))
    sizes = np.bincount(node, minlength=lesson.tree.node_count)[wanted]
    return wanted[np.cumsum(sizes) * columns <= budget]


def check_cuts(lesson, row, node, rng, budget):
    """Splits are as good as the best cut, and leaves have no cut that helps; gives what it cost."""
    columns = searched(lesson)
    if not columns:
        return 0
    chosen = some_nodes(lesson, node, len(columns), budget, rng)
    if len(chosen) == 0:
        return 0
    nodes = Nodes.of(lesson, row, node, chosen)
    H, G, _ = nodes.sums(slice(None))
    before = nodes.score(H, G)
    best = np.max([best_cuts(nodes, j, before) for j in columns], axis=0)
    made = before + 0.0
    inner = lesson.tree.children_left[chosen] >= 0
    if inner.any():
        left = goes_left(lesson, row, node, nodes)
        one, other = nodes.sums(left), nodes.sums(~left)
        made = np.where(inner, nodes.score(*one[:2]) + nodes.score(*other[:2]), before)
        made -= paid(nodes, left, inner, columns)
    slack = doubt(nodes, before)
    must(made >= before - slack, "a cut of many categories that does not pay its price")
    for i in np.flatnonzero(made < best - slack):
        gains = f"{made[i] - before[i]:g}, not {best[i] - before[i]:g}"
        must(not inner[i], f"node {chosen[i]}: the split gains {gains}")
        must(False, f"leaf {chosen[i]} could have been split: it gains {gains}")
    return len(nodes.row) * len(columns)


def paid(nodes, left, inner, columns):
    """What the splits of the nodes cost: nothing, unless they part many categories."""
    lesson, m = nodes.lesson, len(nodes.chosen)
    cost, feature = np.zeros(m), lesson.tree.feature[nodes.chosen]
    for j in np.unique(feature[inner]):
        if j not in columns or not has_many(lesson, j):  # bins may make fewer categories of many
            continue
        there = ~np.isnan(lesson.X[nodes.row, j])
        on_left = np.bincount(nodes.number[there & left], minlength=m)
        parted = (on_left > 0) & (on_left < np.bincount(nodes.number[there], minlength=m))
        cost = np.where(inner & (feature == j) & parted, prices(nodes, j), cost)
    return cost


def goes_left(lesson, row, node, nodes):
    """Which pairs of the chosen nodes are rows of the left child."""
    tree = lesson.tree
    child = tree.children_left[nodes.chosen[nodes.number]]
    n = tree.node_count
    return np.isin(nodes.row * n + child, row * n + node) & (child >= 0)


def doubt(nodes, before):
    """Differences that rounding explains: of the sums, and of the engine's units."""
    lesson, m = nodes.lesson, len(nodes.chosen)
    w = np.maximum(nodes.w, 1e-300)
    single = sum((part**2).sum(axis=1) for part in nodes.terms) / w
    spread = np.bincount(nodes.number, single, minlength=m) + np.abs(before)
    if lesson.criterion in ("entropy", "log_loss"):
        spread = spread + np.bincount(nodes.number, nodes.w, minlength=m)
    unit = max(1e-7, lesson.close)
    rows = np.bincount(nodes.number, minlength=m)
    return 1e-6 * spread + unit * rows * float(lesson.w.max()) * (lesson.close > 1e-9) + 1e-12
