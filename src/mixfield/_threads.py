"""Threads for kernels that release the interpreter lock: the same bytes whatever their number."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from typing import TypeVar

T = TypeVar("T")


def available() -> int:
    """Cores this process may use, or ``MIXFIELD_THREADS``."""
    setting = os.environ.get("MIXFIELD_THREADS", "")
    if setting.isdigit() and int(setting) > 0:
        return int(setting)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class _Worker(threading.local):
    """Whether this thread is one of a pool."""

    pooled = False


_worker = _Worker()


def _mark_worker() -> None:
    _worker.pooled = True


@lru_cache(maxsize=4)
def _pool(threads: int, process: int) -> ThreadPoolExecutor:  # noqa: ARG001 (a forked child needs its own)
    return ThreadPoolExecutor(threads, thread_name_prefix="mixfield", initializer=_mark_worker)


WORTH_IT = 2e5  # updates of a variable; waking a thread costs as much as some 20,000 of them


def each(work: Callable[[int], T], count: int, threads: int, *, updates: float) -> list[T]:
    """``work(k)`` for every k of ``range(count)``."""
    done: dict[int, T] = {}

    def some(first: int, last: int) -> None:
        done.update((k, work(k)) for k in range(first, last))

    split(some, count, threads, updates=updates)
    return [done[k] for k in range(count)]


def ahead(work: Callable[[int], T], count: int, threads: int) -> Iterator[T]:
    """``work(k)`` for every k of ``range(count)``, one after the other; the next is at work while one is looked at."""
    if threads <= 1 or count <= 1 or _worker.pooled:
        yield from map(work, range(count))
        return
    pool = _pool(threads, os.getpid())
    waiting = pool.submit(work, 0)
    for k in range(1, count):
        done = waiting.result()
        waiting = pool.submit(work, k)
        yield done
    yield waiting.result()


def split(work: Callable[[int, int], None], count: int, threads: int, *, updates: float) -> None:
    """Call ``work(first, last)`` on equal shares of ``range(count)``; little work is not shared.

    Nor is work inside a share: if all threads of the pool waited for shares of their own, none would be left for these.
    """
    shares = min(threads, count)
    if shares <= 1 or updates < WORTH_IT or _worker.pooled:
        work(0, count)
        return
    cuts = [count * s // shares for s in range(shares + 1)]
    pool = _pool(threads, os.getpid())
    waiting = [pool.submit(work, cuts[s], cuts[s + 1]) for s in range(1, shares)]
    work(cuts[0], cuts[1])
    for future in waiting:
        future.result()
