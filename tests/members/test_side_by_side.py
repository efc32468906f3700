"""Threads that work side by side end together."""

from functools import partial
from threading import Event
from time import monotonic, sleep

import pytest

from weald import _engine as engine
from weald.members.side_by_side import in_threads


@pytest.mark.parametrize("n_jobs", [None, 1, 3])
def test_answers_come_in_the_order_of_the_items(n_jobs):
    assert in_threads([partial(pow, k, 2) for k in range(20)], n_jobs) == [k * k for k in range(20)]


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
        in_threads([partial(work, k) for k in range(2)], 2)
    assert ended.is_set()
