"""Model files and reports for a checkout that has neither: pickles, and a page with a title.

Does nothing where `weald.save` and `weald.report` are there.
"""

import importlib.util
import json
import pickle
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import weald

HAS_FILES = importlib.util.find_spec("weald.models") is not None
HAS_REPORT = importlib.util.find_spec("weald.report") is not None


class ModelFileError(ValueError):
    pass


def save(model, path, *, info=None):
    json.dumps(info, allow_nan=False)  # refuses what is not plain data
    Path(path).write_bytes(pickle.dumps((model, info)))


def read(path):
    try:
        return pickle.loads(Path(path).read_bytes())
    except Exception as error:
        raise ModelFileError("it is no model file.") from error


def describe(path):
    model, info = read(path)
    d = model.n_features_in_
    names = getattr(model, "feature_names_in_", [f"x{j}" for j in range(d)])
    labels = getattr(model, "categories_", None) or [None] * d
    return SimpleNamespace(
        class_name=type(model).__name__,
        parameters=model.get_params(deep=False),
        n_members=getattr(model, "n_estimators_", None),
        columns=[
            SimpleNamespace(name=str(name), categories=None if one is None else list(one))
            for name, one in zip(names, labels, strict=True)
        ],
        classes=list(model.classes_) if hasattr(model, "classes_") else None,
        info=info,
        weald_version=weald.__version__,
    )


def write_report(path, model, X, y, *, title, leaderboard=None, notes=(), recipe=None, seed=0):
    Path(path).write_text(f"<html><title>{title}</title></html>")


def install(monkeypatch):
    if not HAS_FILES:
        monkeypatch.setattr(weald, "save", save, raising=False)
        monkeypatch.setattr(weald, "load", lambda path: read(path)[0], raising=False)
        monkeypatch.setattr(weald, "ModelFileError", ModelFileError, raising=False)
        models = ModuleType("weald.models")
        models.describe = describe
        monkeypatch.setitem(sys.modules, "weald.models", models)
    if not HAS_REPORT:
        report = ModuleType("weald.report")
        report.write_report = write_report
        monkeypatch.setitem(sys.modules, "weald.report", report)
