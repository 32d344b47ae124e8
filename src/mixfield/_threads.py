"""Threads for kernels that release the interpreter lock: the same bytes whatever their number."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import lru_cache
from threading import Lock
from typing import Generic, TypeVar, cast

S = TypeVar("S")
T = TypeVar("T")

WORTH_IT = 2e5  # updates of a variable; waking a thread costs as much as some 20,000 of them
TASK_THREADS = 3  # on which a `Task` runs

_running_tasks = 0  # less the threads that wait for the result of one
_lock = Lock()


def available() -> int:
    """Cores this process may use, or ``MIXFIELD_THREADS``."""
    setting = os.environ.get("MIXFIELD_THREADS", "")
    if setting.isdigit() and int(setting) > 0:
        return int(setting)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@lru_cache(maxsize=4)
def _pool(threads: int, process: int) -> ThreadPoolExecutor:  # noqa: ARG001 (a forked child needs its own)
    return ThreadPoolExecutor(threads - 1, thread_name_prefix="mixfield")


@lru_cache(maxsize=4)
def _task_pool(process: int) -> ThreadPoolExecutor:  # noqa: ARG001
    return ThreadPoolExecutor(TASK_THREADS, thread_name_prefix="mixfield-task")


def each(work: Callable[[int], T], count: int, threads: int, *, updates: float) -> list[T]:
    """``work(k)`` for every k of ``range(count)``."""
    done: dict[int, T] = {}

    def some(first: int, last: int) -> None:
        done.update((k, work(k)) for k in range(first, last))

    split(some, count, threads, updates=updates)
    return [done[k] for k in range(count)]


def ahead(work: Callable[[int], T], count: int, threads: int) -> Iterator[T]:
    """``work(k)`` for every k of ``range(count)``, in order; the next is computed while the caller uses one."""
    if threads <= 1 or count <= 1:
        yield from map(work, range(count))
        return
    pool = _pool(threads, os.getpid())
    waiting = pool.submit(work, 0)
    for k in range(1, count):
        done = _result(waiting, work, k - 1)
        waiting = pool.submit(work, k)
        yield done
    yield _result(waiting, work, count - 1)


def at_once(work: Callable[[S], T], items: Iterable[S], threads: int) -> Iterator[T]:
    """``work(item)`` for every item, in their order; as many are at work as there are threads, each on one."""
    if threads <= 1:
        yield from map(work, items)
        return
    with _counted(threads - 1), ThreadPoolExecutor(threads) as pool:
        yield from pool.map(work, items)


@contextmanager
def _counted(change: int) -> Iterator[None]:
    """Change the number of running tasks in this block."""
    global _running_tasks
    with _lock:
        _running_tasks += change
    try:
        yield
    finally:
        with _lock:
            _running_tasks -= change


class Task(Generic[T]):
    """Work that may begin on a thread of its own before its result is needed, if there are several threads.

    While it runs, `split` uses one thread less, both in the task and outside of it.
    """

    def __init__(self, work: Callable[[], T], threads: int) -> None:
        self._work, self._threads, self._future = work, threads, cast(Future[T] | None, None)

    def start(self) -> None:
        """Begin now, unless it has begun."""
        if self._threads > 1 and self._future is None:
            self._future = _task_pool(os.getpid()).submit(self._run)

    def result(self) -> T:
        """What the work returns; without `start` it is done here."""
        if self._future is None:
            return self._work()
        with _counted(-1):
            return self._future.result()

    def drop(self) -> None:
        """Cancel the work, or wait until it is over if it has begun; its result is not used."""
        if self._future is not None and not self._future.cancel():
            with _counted(-1):
                self._future.exception()

    def _run(self) -> T:
        with _counted(+1):
            return self._work()


def split(work: Callable[[int, int], None], count: int, threads: int, *, updates: float) -> None:
    """Call ``work(first, last)`` on equal shares of ``range(count)``; little work is not shared.

    Shares that no thread has begun when the caller is done with its own are done by the caller, so that work inside a
    share may be shared again without a deadlock.
    """
    shares = min(threads - max(0, _running_tasks), count)
    if shares <= 1 or updates < WORTH_IT:
        work(0, count)
        return
    cuts = [(count * s // shares, count * (s + 1) // shares) for s in range(shares)]
    pool = _pool(threads, os.getpid())
    waiting = [(pool.submit(work, *cut), cut) for cut in cuts[1:]]
    work(*cuts[0])
    for future, cut in waiting:
        _result(future, work, *cut)


def _result(future: Future[T], work: Callable[..., T], *arguments: int) -> T:
    """The result of the pool; the work is done here if no thread has begun it."""
    return work(*arguments) if future.cancel() else future.result()
