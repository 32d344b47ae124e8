"""Work that is shared between threads: in order, and without waiting for ever."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, Event

import pytest

from mixfield import _threads


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_results_come_in_order(threads):
    assert _threads.each(lambda k: k * k, 7, threads, updates=1e9) == [k * k for k in range(7)]
    assert list(_threads.ahead(lambda k: k + 1, 5, threads)) == [1, 2, 3, 4, 5]


@pytest.mark.parametrize("threads", [2, 3])
def test_shared_work_inside_shared_work_ends(threads):
    """Three levels, and several callers at once, on a pool that is too small for all of them."""

    def count(levels):
        if levels == 0:
            return 1
        return sum(_threads.each(lambda _: count(levels - 1), 4, threads, updates=1e9))

    with ThreadPoolExecutor(6) as callers:
        waiting = [callers.submit(count, 3) for _ in range(12)]
        assert [one.result(timeout=60) for one in waiting] == [64] * 12


@pytest.mark.parametrize("threads", [2, 3])
def test_work_on_a_thread_of_its_own_leaves_fewer_to_share_with(threads):
    """As many are at work at a time as there are threads; the one that waits lends its own."""
    begun, go_on = Event(), Event()

    def shares():
        seen = []
        _threads.split(lambda first, last: seen.append((first, last)), 12, threads, updates=1e9)
        return len(seen)

    def work():
        begun.set()
        go_on.wait(60)
        return shares()

    task = _threads.Task(work, threads)
    task.start()
    begun.wait(60)
    assert shares() == threads - 1
    go_on.set()
    assert task.result() in (threads - 1, threads)
    assert shares() == threads


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_several_at_once_come_in_order_and_share_nothing(threads):
    """As many at a time as there are threads; what each could share, it does alone."""
    together = Barrier(threads)

    def work(k):
        together.wait(60)
        seen = []
        _threads.split(lambda first, last: seen.append((first, last)), 12, threads, updates=1e9)
        return k, seen

    assert list(_threads.at_once(work, range(6), threads)) == [(k, [(0, 12)]) for k in range(6)]


def test_an_error_ends_what_has_not_begun():
    begun = []

    def work(k):
        begun.append(k)
        raise ValueError(k)

    with pytest.raises(ValueError, match="0"):
        list(_threads.at_once(work, range(1000), 2))
    assert len(begun) < 1000


def test_an_error_on_a_thread_of_its_own_is_raised_where_one_waits():
    task = _threads.Task(lambda: 1 // 0, 2)
    task.start()
    with pytest.raises(ZeroDivisionError):
        task.result()


def test_a_single_thread_does_the_work_when_it_is_asked_for():
    done = []
    task = _threads.Task(lambda: done.append(1), 1)
    task.start()
    assert not done
    task.result()
    assert done == [1]


@pytest.mark.parametrize("threads", [1, 2])
def test_work_that_nobody_wants_is_over_or_never_begins(threads):
    begun, done = Event(), []
    task = _threads.Task(lambda: (begun.set(), done.append(1)), threads)
    task.start()
    if threads > 1:
        begun.wait(60)
    task.drop()
    assert len(done) == threads - 1
