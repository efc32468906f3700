"""The report: one HTML page about a fitted model and its data, that needs no network.

:func:`write_report` gathers facts (:mod:`weald.report.facts`), which are numbers and sentences, and
makes a page of them (:mod:`weald.report.page`). The trees stand in the page as data
(:mod:`weald.report.embedded_trees`), so that it can predict.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

__all__ = ["write_report"]


def write_report(
    path: str | Path,
    model: Any,
    X: Any,
    y: Any,
    *,
    title: str,
    leaderboard: Iterable[Mapping[str, Any]] | None = None,
    notes: Iterable[str] = (),
    seed: int = 0,
) -> Path:
    """Write a report about a fitted model as one HTML page.

    It shows the data with warnings, a leaderboard, the quality on rows that were not seen, curves,
    importances, dependence, what theory proves, and, for models of trees, every tree, and a panel
    that predicts for edited values in the page.

    Figures of quality come from out-of-bag predictions, if the model has them and these are its
    training rows; else from copies of the model on folds, of at most 10,000 rows. The page says
    which. It holds about two dozen of the rows, to start from, and the names of all categories.

    Parameters
    ----------
    path : str or Path
        Where the page goes; what is there is replaced, when the page is complete.
    model : fitted classifier or regressor
    X, y : rows and targets
        The model may have seen them.
    title : str
    leaderboard : list of dicts, optional
        Rows with "method", "score", "standard_error", "seconds" and "cut" (whether time ended its
        fits), in the order to be shown.
    notes : list of str
        Sentences about the data.
    seed : int
        For all random choices.

    Returns
    -------
    Path

    Examples
    --------
    >>> import tempfile
    >>> from sklearn.datasets import load_iris
    >>> from weald import RandomForestClassifier
    >>> from weald.report import write_report
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> forest = RandomForestClassifier(20, random_state=0).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = write_report(f"{folder}/iris.html", forest, X, y, title="Iris").read_text()
    >>> page.startswith("<!doctype html>")
    True
    """
    from weald.params.whole_file import whole_file
    from weald.report.facts import gather
    from weald.report.page import page_of

    facts = gather(model, X, y, title=title, leaderboard=leaderboard, notes=notes, seed=seed)
    # Half a pair of surrogates, which text may hold and a page may not, is shown as its number.
    page = page_of(facts).encode("utf-8", "backslashreplace")
    with whole_file(path) as part:
        part.write_bytes(page)
    return Path(path)
