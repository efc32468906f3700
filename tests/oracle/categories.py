"""The rules for columns of many categories, in plain NumPy.

A column is one of many categories if it has more than eight. In such a column categories of a
single row are one, and a cut of categories in the order of their means has a price: for each
category of the node beyond the second, twice what a free mean gains on noise.
"""

import numpy as np

FREE = 8


def row_weight(w, counts=None):
    """What a row weighs: whole weights count rows, others are 1 on average.

    `counts` tells how often a row was drawn; `w` is its weight, all draws together.
    """
    w = np.asarray(w, dtype=float)
    counts = np.ones(len(w)) if counts is None else np.asarray(counts, dtype=float)
    there = (w > 0) & (counts > 0)
    each = w[there] / counts[there]
    if not there.any() or (each == np.floor(each)).all():
        return 1.0
    return float(w[there].sum() / counts[there].sum())


def merged(x, n_categories, weights):
    """Codes of a column, in which categories of a single row have one code."""
    if n_categories <= FREE:
        return x
    there = ~np.isnan(x)
    sums = np.bincount(x[there].astype(int), weights[there], minlength=n_categories)
    single = sums < 1.5 * row_weight(weights)
    if single.sum() < 2:
        return x
    out = x.copy()
    out[there] = np.where(single[x[there].astype(int)], n_categories, x[there])
    return out


def noise(criterion, impurity, n_outputs=1, y=None, w=None, shares=None):
    """What a free mean gains on noise, in weight times impurity (summed over outputs), per weight.

    Parameters
    ----------
    impurity : float or array
        Of the node, summed over outputs.
    y, w : arrays, for "poisson"
        Targets (n, outputs) and weights of the node.
    shares : list of arrays, for "gini"
        Shares of the classes, (..., classes), for each output.
    """
    if criterion in ("entropy", "log_loss"):
        return np.maximum(np.minimum(impurity, n_outputs), n_outputs / (2 * np.log(2)))
    if criterion == "gini":
        return sum(along_one_direction(p) for p in shares)
    if criterion != "poisson":
        return impurity
    mean = w @ y / w.sum()
    variance = w @ (y - mean) ** 2 / w.sum()
    return float(np.sum(np.divide(variance, 2 * mean, out=np.zeros_like(mean), where=mean > 0)))


def along_one_direction(p):
    """Of the covariance C of a row's classes, tr C^2 / tr C: of two classes, their impurity."""
    p = np.asarray(p, dtype=float)
    C = p[..., None] * np.eye(p.shape[-1]) - p[..., None] * p[..., None, :]
    trace = np.trace(C, axis1=-2, axis2=-1)
    return np.divide((C**2).sum((-2, -1)), trace, out=np.zeros_like(trace), where=trace > 1e-15)


def price(categories, noise, row):
    """Of a cut in a node of so many categories, in weight times impurity."""
    return 2 * noise * row * np.maximum(np.asarray(categories) - 2, 0)


def newcomer(x, n_categories, weights):
    """What a category counts as that is not among those fitted: one of a single row, or missing."""
    there = ~np.isnan(x)
    if not (merged(x, n_categories, weights)[there] == n_categories).any():
        return np.nan
    return np.bincount(x[there].astype(int), weights[there], minlength=n_categories).argmin()
