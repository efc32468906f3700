"""Threads that work side by side end together."""

from threading import Event
from time import monotonic, sleep

import pytest

from weald import _engine as engine
from weald.explain._side_by_side import side_by_side


@pytest.mark.parametrize("n_jobs", [None, 1, 3])
def test_answers_come_in_the_order_of_the_items(n_jobs):
    assert side_by_side(lambda k: k * k, range(20), n_jobs) == [k * k for k in range(20)]


def test_when_one_fails_the_others_have_ended():
    begun, ended = Event(), Event()

    def work(k):
        if k == 0:
            begun.wait(10)
            raise ZeroDivisionError
        begun.set()
        until = monotonic() + 20
        try:
            while monotonic() < until:
                sleep(0.01)
                engine.pause()
        finally:
            ended.set()

    with pytest.raises(ZeroDivisionError):
        side_by_side(work, range(2), 2)
    assert ended.is_set()
