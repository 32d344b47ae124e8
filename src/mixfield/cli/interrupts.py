"""Ctrl-C, pressed once or many times: the first one stops a command, the others do not disturb its cleanup."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def one_interrupt() -> Iterator[None]:
    """In this block, SIGINT raises `KeyboardInterrupt` unless one is being handled already.

    ``except``, ``finally`` and ``__exit__`` after the first Ctrl-C run to their end.  An interrupt that is lost, as in
    a ``__del__``, does not count: the next one is raised.  After an interrupt SIGINT stays ignored, because the process
    is going to exit and its exit handlers must run too.
    """
    if threading.current_thread() is not threading.main_thread() or not _is_default():
        yield
        return
    signal.signal(signal.SIGINT, _interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN if _interrupted(sys.exception()) else signal.default_int_handler)


def _is_default() -> bool:
    """Whether SIGINT has Python's own handler; background jobs of a shell ignore it."""
    return signal.getsignal(signal.SIGINT) is signal.default_int_handler


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    if not _interrupted(sys.exception()):
        raise KeyboardInterrupt


def _interrupted(error: BaseException | None) -> bool:
    """Whether an exception is a `KeyboardInterrupt`, or was raised while one was handled."""
    return error is not None and (isinstance(error, KeyboardInterrupt) or _interrupted(error.__context__))
