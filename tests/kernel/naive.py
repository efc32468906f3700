"""Kernel smoothing as the books write it: all pairs of rows, no blocks, no trees."""

import numpy as np

BORDER = 1 + 1e-10  # of a box, for rounding


def scaled(X, X_new, w, scale):
    """Columns in standard deviations, without the constant ones; or as they are."""
    X, X_new = np.asarray(X, dtype=float), np.asarray(X_new, dtype=float)
    if not scale:
        return X, X_new
    varies = X.max(axis=0) > X.min(axis=0)
    X, X_new = X[:, varies], X_new[:, varies]
    mean = np.average(X, axis=0, weights=w)
    deviation = np.sqrt(np.average((X - mean) ** 2, axis=0, weights=w))
    return (X - mean) / deviation, (X_new - mean) / deviation


def estimate(x, X, Y, w, kernel, h):
    """``sum w K y / sum w K`` at one point, for targets Y of shape (n, k)."""
    d2 = ((X - x) ** 2).sum(axis=1)
    if kernel == "box":
        K = d2 <= max(h**2, d2.min()) * BORDER
    else:
        K = np.exp(-(d2 - d2.min()) / (2 * h**2))
    return (w * K) @ Y / (w @ K)


def estimates(X, Y, w, X_new, kernel, h, scale):
    Z, Z_new = scaled(X, X_new, w, scale)
    return np.array([estimate(z, Z, Y, w, kernel, h) for z in Z_new])


def leave_one_out(X, Y, kernel, h, scale):
    """Mean squared error of rows that each is predicted from all the others."""
    Z, _ = scaled(X, X, np.ones(len(X)), scale)
    n = len(Z)
    errors = []
    for i in range(n):
        others = np.arange(n) != i
        said = estimate(Z[i], Z[others], Y[others], np.ones(n - 1), kernel, h)
        errors.append(((said - Y[i]) ** 2).sum())
    return np.mean(errors)
