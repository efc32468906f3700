"""Rows are known again by their keys, in any order and from any format."""

import numpy as np
import pandas as pd
import pytest

from weald.dataset import open_file, read_training
from weald.dataset.row_keys import Overlap, keys_of, sample_keys


def columns(n, seed=0):
    rng = np.random.default_rng(seed)
    return {"a": rng.normal(size=n), "b": rng.normal(size=n)}, rng.normal(size=n)


@pytest.mark.parametrize("n", [100, 255, 256, 20_000])
@pytest.mark.parametrize("share", [0.0, 0.25, 1.0])
def test_the_share_of_known_rows(n, share):
    X, y = columns(n)
    kept = sample_keys(keys_of(X, y))
    assert len(kept) == min(n, 256)
    others, more = columns(n, seed=1)
    old = np.arange(n) < share * n
    mixed = {name: np.where(old, X[name], others[name])[::-1] for name in X}
    keys = keys_of(mixed, np.where(old, y, more)[::-1])
    overlap = Overlap(kept)
    for part in np.array_split(keys, 7):  # in blocks, and in another order
        overlap.add(part)
    error = 0 if n < 256 or share in (0, 1) else 4 * np.sqrt(share * (1 - share) / 256)
    assert overlap.share() == pytest.approx(old.mean(), abs=error)


def test_rows_that_come_many_times_count_once():
    X, y = columns(300)
    many = np.repeat(np.arange(300), np.where(np.arange(300) < 3, 20_000, 1))
    keys = keys_of(X, y)
    assert sample_keys(keys[many]) == sample_keys(keys)
    small = Overlap(sample_keys(keys[:100]))
    small.add(keys[many])
    assert small.share() == pytest.approx(1 / 3)


def test_every_cell_counts():
    X, y = columns(50)
    X["a"][3], X["b"][5] = np.nan, 0.0
    keys = keys_of(X, y)
    assert len(set(keys.tolist())) == 50
    other = {**X, "b": np.where(np.arange(50) == 5, -0.0, X["b"])}
    np.testing.assert_array_equal(keys_of(other, y), keys)  # one zero is like the other
    for name in X:
        changed = {**X, name: np.where(np.arange(50) == 7, 1.0, X[name])}
        assert np.flatnonzero(keys_of(changed, y) != keys).tolist() == [7]
    assert np.flatnonzero(keys_of(X, np.where(np.arange(50) == 9, 0, y)) != keys).tolist() == [9]
    swapped = {"a": X["b"], "b": X["a"]}
    assert (keys_of(swapped, y) != keys).all()


def test_formats_do_not_matter(tmp_path):
    X, y = columns(60)
    table = pd.DataFrame({**X, "c": ["u", "v", None] * 20, "y": y}).round(3)
    table.to_csv(tmp_path / "t.csv", index=False)
    table.to_csv(tmp_path / "s.csv", index=False, sep=";", decimal=",")
    table.to_parquet(tmp_path / "t.parquet")
    kept = [
        read_training(open_file(str(tmp_path / name)), "y").keys
        for name in ("t.csv", "s.csv", "t.parquet")
    ]
    assert kept[0] == kept[1] == kept[2]
    assert len(kept[0]) == 60
