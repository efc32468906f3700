"""The quality of splits: NumPy looks through all cuts of some nodes of a finished tree."""

import numpy as np

from stress.finished import must


def score(G, H, criterion, l2):
    """Scores of sums G (..., outputs of one kind) and weights H: greater is purer."""
    H = np.maximum(H, 1e-300)
    if criterion in ("gini", "squared_error"):
        return (G**2).sum(axis=-1) / H
    if criterion == "gradient":
        return G[..., 0] ** 2 / (H + l2)
    if criterion == "misclassification":
        return G.max(axis=-1)
    if criterion == "poisson":
        ratio = np.maximum(G, 1e-300) / H[..., None]
        return (G * np.log(ratio)).sum(axis=-1)
    logs = np.log2(G, out=np.zeros_like(G), where=G > 0)
    return (G * logs).sum(axis=-1) - H * np.log2(H)


def channels(lesson, rows):
    """One list of terms for each output, shape (rows, k)."""
    w = lesson.w[rows]
    if lesson.criterion == "gradient":
        return [lesson.Y[rows]]
    if lesson.classes:
        return [
            w[:, None] * (lesson.Y[rows, k, None] == np.arange(n))
            for k, n in enumerate(lesson.classes)
        ]
    Y = lesson.Y[rows]
    if lesson.criterion == "squared_error":
        Y = Y - Y.mean(axis=0)  # for the sake of digits
    return [w[:, None] * Y[:, k, None] for k in range(Y.shape[1])]


def allowed(lesson, n, H, G):
    """Sides with enough rows, weight, and what a Poisson leaf needs."""
    rules = lesson.rules
    least = rules.get("min_samples_leaf", 1)
    fine = n >= (least if isinstance(least, int) else np.ceil(least * len(lesson.X)))
    fine &= H > 0
    share = rules.get("min_weight_fraction_leaf", 0.0) or 0.0
    if share:
        fine &= H > share * lesson.w.sum() * (1 + 1e-6)
    if lesson.criterion == "gradient":
        fine &= lesson.extra["min_hessian"] * (1 + 1e-6) <= H
    if lesson.criterion == "poisson":
        fine &= np.all([g[..., 0] > 1e-12 for g in G], axis=0)
    return fine


def key_of(lesson, x, parts, w, categorical):
    """What a column is cut by: its values, or the means of its categories."""
    if not categorical:
        return x
    there = ~np.isnan(x)
    if not there.any():
        return x
    codes = np.where(there, x, 0).astype(int)
    C = np.bincount(codes[there], parts[0][there, -1])
    H = np.bincount(codes[there], w[there])
    return np.where(there, (C / np.maximum(H, 1e-300))[codes], np.nan)


def best_cut(lesson, rows, j, parts):
    """The best gain of all allowed cuts of a column."""
    w = lesson.w[rows]
    x = key_of(lesson, lesson.X[rows, j], parts, w, lesson.categorical[j])
    there = np.flatnonzero(~np.isnan(x))
    if len(there) == 0:
        return -np.inf
    order = there[np.argsort(x[there], kind="stable")]
    step = np.diff(x[order])
    size = np.abs(x[order])
    apart = step > (1e-9 * (size[1:] + size[:-1]) if lesson.categorical[j] else 0)
    last = np.r_[np.flatnonzero(apart), len(order) - 1]
    H, G = np.cumsum(w[order])[last], [np.cumsum(p[order], axis=0)[last] for p in parts]
    n = last + 1
    all_H, all_G = w.sum(), [p.sum(axis=0) for p in parts]
    lost = all_H - H[-1], [a - g[-1] for a, g in zip(all_G, G, strict=True)], len(rows) - n[-1]
    best = -np.inf
    for left in (False, True) if lost[2] else (False,):  # missing values on the left
        one = (n + left * lost[2], H + left * lost[0])
        G_one = [g + left * extra for g, extra in zip(G, lost[1], strict=True)]
        other = (len(rows) - one[0], all_H - one[1])
        G_other = [a - g for a, g in zip(all_G, G_one, strict=True)]
        fine = (other[0] > 0) & allowed(lesson, *one, G_one) & allowed(lesson, *other, G_other)
        if fine.any():
            gains = sum(
                score(a[fine], one[1][fine], lesson.criterion, lesson.l2)
                + score(b[fine], other[1][fine], lesson.criterion, lesson.l2)
                for a, b in zip(G_one, G_other, strict=True)
            )
            best = max(best, float(gains.max()))
    return best


def searched(lesson):
    """Columns of which every cut was looked at; none if the tree did not look at all columns."""
    rules = lesson.rules
    if not lesson.extra.get("searches all") or rules.get("monotonic_cst") is not None:
        return []
    if lesson.criterion == "absolute_error":
        return []
    simple = len(lesson.classes) == 1 and lesson.classes[0] == 2
    simple |= not lesson.classes and lesson.Y.shape[1] == 1 and lesson.criterion != "gradient"
    bins = lesson.rules.get("max_bins")
    found = []
    for j, categorical in enumerate(lesson.categorical):
        x = lesson.X[:, j]
        apart = bins is None or len(np.unique(x[~np.isnan(x)])) <= bins
        if apart and (simple or not categorical):
            found.append(j)
    return found


def rows_of(row, node, i):
    return row[node == i]


def split_gain(lesson, row, node, i):
    rows = rows_of(row, node, i)
    parts = channels(lesson, rows)
    tree, sides = lesson.tree, []
    for child in (tree.children_left[i], tree.children_right[i]):
        inside = np.isin(rows, rows_of(row, node, child))
        H = lesson.w[rows[inside]].sum()
        sides += [score(p[inside].sum(axis=0), H, lesson.criterion, lesson.l2) for p in parts]
    return float(np.sum(sides))


def check_cuts(lesson, row, node, rng, inner=3, leaves=2):
    """Some splits are as good as the best cut; some leaves have no cut that helps."""
    tree = lesson.tree
    columns = searched(lesson)
    if not columns:
        return
    is_leaf = tree.children_left < 0
    chosen = set(rng.choice(np.flatnonzero(~is_leaf), inner)) if not is_leaf.all() else set()
    for i in sorted({0, *chosen} if not is_leaf[0] else chosen):
        if lesson.criterion == "gradient" and lesson.categorical[tree.feature[i]]:
            continue  # judged with more regularisation
        best, whole, slack = look(lesson, row, node, i, columns)
        made = split_gain(lesson, row, node, i)
        must(
            made >= best - slack, f"node {i}: a split gains {made - whole:g}, not {best - whole:g}"
        )
    if lesson.extra.get("leaves had a choice"):
        for i in rng.choice(np.flatnonzero(is_leaf), leaves):
            rows = rows_of(row, node, i)
            if len(rows) < 2 or tree.impurity[i] <= 1e-12 or not may_split(lesson, i):
                continue
            best, whole, slack = look(lesson, row, node, i, columns)
            must(best <= whole + slack, f"leaf {i} could have been split for {best - whole:g}")


def may_split(lesson, i):
    """No limit on depth or rows makes the node a leaf."""
    tree, rules = lesson.tree, lesson.rules
    n = tree.n_node_samples[i]
    deepest = rules.get("max_depth") or np.inf
    enough = [rules.get("min_samples_split", 2), 2 * rules.get("min_samples_leaf", 1)]
    if any(isinstance(number, float) for number in enough):
        return False
    return tree.depth[i] < deepest and n >= max(enough)


def look(lesson, row, node, i, columns):
    """The best score after a split, that before it, and how much of a difference is rounding."""
    rows = rows_of(row, node, i)
    parts = channels(lesson, rows)
    H = lesson.w[rows].sum()
    whole = float(sum(score(p.sum(axis=0), H, lesson.criterion, lesson.l2) for p in parts))
    single = np.abs(score(np.hstack(parts), lesson.w[rows], "gini", 0.0)).sum()
    if lesson.criterion in ("entropy", "log_loss", "poisson"):
        single += abs(whole)
    slack = max(1e-6, 10 * lesson.close) * (float(single) + abs(whole)) + 1e-12
    best = max(best_cut(lesson, rows, j, parts) for j in columns)
    if lesson.close > 1e-9:  # weights as small as their unit
        slack += 10 * lesson.close * float(lesson.w.sum())
    return best, whole, slack
