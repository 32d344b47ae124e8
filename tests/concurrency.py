"""The same work in several threads at the same time."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier


def in_threads(work, count=8):
    """Results of ``work()`` in ``count`` threads that begin together."""
    barrier = Barrier(count)

    def begin(_):
        barrier.wait()
        return work()

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(begin, range(count)))
