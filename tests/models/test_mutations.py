"""Whatever happens to a file: it is refused in one sentence, or it holds a model that works."""

import resource
import signal

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, Ridge

import weald
from state.models import models

from .cases import (
    answers,
    classifiers,
    mixed,
    numbers,
    quietly,
    regressors,
    table_pipeline,
    transformers,
)
from .mutations import outcomes

# "refuses rows": a ValueError or TypeError of one line, as for bad rows. A parameter of one of
# scikit-learn's estimators may have become so large or small that its formula gives no number.
GOOD = {
    "own": {"refused", "works", "refuses rows"},
    "foreign": {"refused", "works", "refuses rows", "numbers that are none"},
}


class OutOfTimeError(BaseException):
    """A file took too long."""


def _out_of_time(*_):
    raise OutOfTimeError


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Small model files: weald's own models, and those of scikit-learn."""
    path = tmp_path_factory.mktemp("models") / "model.weald"

    def saved(name, model, X):
        weald.save(model, path)
        return name, path.read_bytes(), X

    own = [saved(name, model, X) for name, (model, X) in quietly(models).items()]
    own = [file for file in own if len(file[1]) < 20_000]  # larger ones show nothing new
    X, real, codes = numbers()
    foreign = []
    for y, some in ((real, regressors()), (codes, classifiers()), (codes, transformers())):
        for model in some:
            name = f"{len(foreign)} {type(model).__name__}"
            y = np.column_stack([real, -real]) if name.endswith("MultiOutputRegressor") else y
            foreign.append(saved(name, quietly(model.fit, X, y), X[:20].copy()))
    table, real = mixed()
    rows = table.dropna()[:20]  # a pipeline without its imputer is a valid one
    small = weald.RandomForestRegressor(2, max_depth=2, random_state=0)
    for last, y in ((Ridge(), real), (LogisticRegression(), real > 2), (small, real)):
        name = f"table {type(last).__name__}"
        foreign.append(saved(name, table_pipeline(last).fit(table, y), rows))
    return {"own": own, "foreign": foreign}


def check(files, kind, path, **which):
    """Count outcomes; nothing but those that are good may be among them."""
    before = signal.signal(signal.SIGALRM, _out_of_time)
    try:
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        counts, wrong = outcomes(files[kind], path, answers, **which)
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory
    finally:
        signal.signal(signal.SIGALRM, before)
    print(kind, counts)
    assert [case for case in wrong if case[2] not in GOOD[kind]] == []
    assert memory < 200_000, "in kB: files of a few kB must not need much memory"
    assert counts["refused"] > 1000
    assert counts["works"] > 500  # or the mutations would show little


@pytest.mark.parametrize("part", range(4))
def test_mutated_files_of_weald(files, tmp_path, part):
    check(files, "own", tmp_path / "m", seed=0, first=3500 * part, last=3500 * (part + 1))


@pytest.mark.parametrize("part", range(2))
def test_mutated_files_of_scikit_learn(files, tmp_path, part):
    check(files, "foreign", tmp_path / "m", seed=0, first=3000 * part, last=3000 * (part + 1))


@pytest.mark.slow
@pytest.mark.parametrize("part", range(10))
@pytest.mark.parametrize("kind", ["own", "foreign"])
def test_many_mutated_files(files, tmp_path, kind, part):
    check(files, kind, tmp_path / "m", seed=1, first=10_000 * part, last=10_000 * (part + 1))
