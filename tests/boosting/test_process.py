"""A fit in the world outside: Ctrl-C, forks, threads, and tables of any kind."""

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

from boosting.cases import mixed, model, real, scores

INTERRUPTED = """
import sys, time
import numpy as np
from weald import GradientBoostingClassifier

rng = np.random.default_rng(0)
X = rng.normal(size=(200_000, 20))
y = (X[:, 0] + rng.normal(size=len(X)) > 0) * 1
print("fitting", flush=True)
try:
    GradientBoostingClassifier(n_estimators=10**6, {settings}).fit(X, y)
except KeyboardInterrupt:
    print("stopped", time.time(), flush=True)
small = GradientBoostingClassifier(n_estimators=2).fit(X[:500], y[:500])
print("usable", small.predict(X[:500]).shape, flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows cannot send SIGINT to one process")
@pytest.mark.parametrize(
    "settings",
    [
        "",
        *(pytest.param(s, marks=pytest.mark.slow) for s in ("max_leaf_nodes=2000", "step='exact'")),
    ],
)
def test_ctrl_c_stops_a_fit_within_a_second(settings):
    code = INTERRUPTED.format(settings=settings)
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as child:
        try:
            assert child.stdout.readline().strip() == "fitting"
            time.sleep(1.5)
            sent = time.time()
            child.send_signal(signal.SIGINT)
            said = child.stdout.readline().split()
            assert said[0] == "stopped"
            assert float(said[1]) - sent < 1
            assert child.stdout.readline().startswith("usable (500,)")
        finally:
            child.kill()


FORKED = """
import os, sys
import numpy as np
from weald import GradientBoostingRegressor

rng = np.random.default_rng(0)
X = rng.normal(size=(20_000, 5))
y = X[:, 0] - X[:, 1] * X[:, 2]


def digest():
    model = GradientBoostingRegressor(n_estimators=3, n_jobs=2, random_state=0).fit(X, y)
    return hash(model.predict(X).tobytes())


before = digest()  # the parent's threads exist before the fork
child = os.fork()
if child == 0:
    os._exit(0 if digest() == before else 1)
_, status = os.waitpid(child, 0)
print(os.waitstatus_to_exitcode(status), digest() == before)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="Windows has no fork")
def test_a_forked_child_fits_the_same_model():
    out = subprocess.run([sys.executable, "-c", FORKED], capture_output=True, text=True, timeout=60)
    assert out.stdout.split() == ["0", "True"], out.stderr


def test_fits_in_several_threads_at_once():
    X, y, _ = mixed("log_loss", n=3000)
    alone = scores(model("log_loss", subsample=0.5, random_state=0).fit(X, y), X)

    def fit(_):
        return scores(model("log_loss", subsample=0.5, random_state=0, n_jobs=2).fit(X, y), X)

    with ThreadPoolExecutor(4) as pool:
        for said in pool.map(fit, range(8)):
            np.testing.assert_array_equal(said, alone)


@pytest.mark.parametrize("loss", ["squared_error", "log_loss", "three classes"])
def test_the_kind_of_table_changes_nothing(loss):
    X, y, _ = real(loss)
    plain = scores(model(loss).fit(X, y), X)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    tables = {
        "Fortran": np.asfortranarray(X),
        "strided": np.repeat(X, 2, axis=0)[::2],
        "lists": X.tolist(),
        "pandas": frame,
        "polars": pl.from_pandas(frame),
        "arrow": pa.table(frame),
        "sparse": sparse.csr_array(X),
    }
    for name, table in tables.items():
        est = model(loss).fit(table, y)
        said = est.predict_proba(table) if hasattr(est, "classes_") else est.predict(table)
        again = model(loss).fit(X, y)
        other = again.predict_proba(X) if hasattr(again, "classes_") else again.predict(X)
        np.testing.assert_array_equal(said, other, err_msg=name)
        if name in ("pandas", "polars", "arrow"):
            assert est.feature_names_in_.tolist() == ["a", "b", "c"]
    read_only = X.copy()
    read_only.flags.writeable = False
    np.testing.assert_array_equal(scores(model(loss).fit(read_only, y), read_only), plain)


def test_words_are_categories():
    X, y, rng = real("squared_error", n=200)
    codes = rng.integers(0, 5, len(y))
    y = y + 3 * (codes % 2)
    words = np.array(["red", "green", "blue", "grey", "pink"])[codes]
    by_word = model("squared_error").fit(pd.DataFrame({"x": X[:, 0], "colour": words}), y)
    named = pd.Series(words, dtype="category")
    by_category = model("squared_error").fit(pd.DataFrame({"x": X[:, 0], "colour": named}), y)
    by_code = model("squared_error", categorical_features=[1]).fit(np.c_[X[:, 0], codes], y)
    said = by_word.predict(pd.DataFrame({"x": X[:, 0], "colour": words}))
    np.testing.assert_allclose(
        said, by_category.predict(pd.DataFrame({"x": X[:, 0], "colour": named}))
    )
    np.testing.assert_allclose(said, by_code.predict(np.c_[X[:, 0], codes]))


def test_fit_leaves_its_input_alone():
    X, y, rng = mixed("squared_error")
    w, offset = rng.uniform(0.5, 2, len(y)), rng.normal(size=len(y))
    copies = [part.copy() for part in (X, y, w, offset)]
    model("squared_error", subsample=0.5).fit(X, y, w, offset=offset)
    for part, copied in zip((X, y, w, offset), copies, strict=True):
        np.testing.assert_array_equal(part, copied)
