"""Ctrl-C with workers: a terminal sends SIGINT to every process of a job, but only the driver may react to it."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def sigint_blocked() -> Iterator[None]:
    """Block SIGINT in threads and processes started in this block; the calling thread handles it after the block.

    Systems without signal masks (Windows) start workers unblocked; these ignore SIGINT once they run.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    from multiprocessing import resource_tracker

    resource_tracker.ensure_running()  # otherwise started with the first process, which unblocks SIGINT
    with _sigint_deferred():
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            yield
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)


@contextmanager
def _sigint_deferred() -> Iterator[None]:
    """Raise a SIGINT of this block at its end.

    Another thread of the process, which does not block the signal, may receive it; Python then runs the handler in the
    main thread in spite of the mask.
    """
    handler = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or handler is None:
        yield
        return
    received: list[int] = []
    signal.signal(signal.SIGINT, lambda number, _: received.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
        if received:
            signal.raise_signal(signal.SIGINT)
