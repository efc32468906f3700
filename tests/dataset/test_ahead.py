"""Blocks read ahead: same order, errors in place, no thread left behind."""

import threading

import pytest

from weald.dataset.ahead import read_ahead


def test_errors_come_where_the_item_would():
    def items():
        yield 1
        raise OSError("gone")

    given = read_ahead(items())
    assert next(given) == 1
    with pytest.raises(OSError, match="gone"):
        next(given)


def test_memory_stays_bounded_and_no_thread_is_left():
    made = []

    def items():
        for i in range(1000):
            made.append(i)
            yield i

    before = threading.active_count()
    given = read_ahead(items())
    assert [next(given), next(given)] == [0, 1]
    given.close()
    assert len(made) < 10
    assert threading.active_count() == before
