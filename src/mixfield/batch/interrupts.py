"""Ctrl-C reaches every process of a terminal; it is for the driver, who ends its workers."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import resource_tracker


@contextmanager
def deaf() -> Iterator[None]:
    """Threads and processes that are started in this block never hear Ctrl-C; who starts them hears it afterwards."""
    if not hasattr(signal, "pthread_sigmask"):  # not on this system
        yield
        return
    resource_tracker.ensure_running()  # it starts with the first process, and unblocks the signal in doing so
    with _later():
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            yield
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _later() -> Iterator[None]:
    """Ctrl-C counts at the end of the block: another thread of this process may hear it, and tells the main one."""
    usual = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or usual is None:
        yield
        return
    heard: list[int] = []
    signal.signal(signal.SIGINT, lambda number, _: heard.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, usual)
        if heard:
            signal.raise_signal(signal.SIGINT)
