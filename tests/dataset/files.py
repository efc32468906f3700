"""Small files, and what is read of them."""

import importlib.util

import numpy as np
import pandas as pd

from weald.dataset import frames, open_file, read_training, sources


def columns_of(training):
    """Names, kinds, and the cells as the model sees them."""
    X = training.X
    if isinstance(X, np.ndarray):
        X = pd.DataFrame(X, columns=training.recipe.features)
    elif not isinstance(X, pd.DataFrame):
        X = X.to_pandas()
    return {name: X[name].astype(object).where(X[name].notna(), None).tolist() for name in X}


def without_arrow(monkeypatch):
    real = importlib.util.find_spec

    def find(name, *rest):
        return None if name == "pyarrow" else real(name, *rest)

    monkeypatch.setattr(sources.importlib.util, "find_spec", find)
    frames._library.cache_clear()
    monkeypatch.setattr(frames, "_library", lambda: "pandas")


def judged(tmp_path, text, **options):
    path = tmp_path / "table.csv"
    path.write_text(text)
    return read_training(open_file(str(path)), "y", **options)


def rows(head, *cells, n=40):
    """A file of n rows; `cells` are functions of the row number."""
    body = (",".join(str(cell(i)) for cell in cells) for i in range(n))
    return "\n".join([head, *body]) + "\n"
