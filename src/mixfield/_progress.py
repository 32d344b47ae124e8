"""A progress bar for calls that take more than two seconds: on a terminal, in the main thread, one at a time."""

from __future__ import annotations

import multiprocessing
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from mixfield.errors import MixfieldError

Advance = Callable[[int], object]
Progress = Advance | bool | None  # of public functions: a callback, False for none, None or True for a bar

DELAY = 2.0  # seconds before a bar appears

_hidden: ContextVar[bool] = ContextVar("mixfield_progress_hidden", default=False)


@contextmanager
def hidden() -> Iterator[None]:
    """No bars in this block: the command line shows its own, and a call inside another shows none."""
    token = _hidden.set(True)
    try:
        yield
    finally:
        _hidden.reset(token)


@contextmanager
def shown(progress: Progress, what: str, total: int | None) -> Iterator[Advance | None]:
    """The callback of a public function, or None if nothing is shown.

    Parameters
    ----------
    progress : a callback, which is returned as it is; False for none; None for a bar where a person can see it.
    what : unit of the numbers, such as "modes".
    total : the last number, if known.
    """
    if callable(progress):
        yield progress
        return
    if progress is not None and not isinstance(progress, bool):
        raise MixfieldError(f"progress must be a function, None, True or False, got {progress!r}")
    if progress is False or not _visible():
        yield None
        return
    bar = _LateBar(what, total)
    with hidden():
        try:
            yield bar.advance
        finally:
            bar.close()


def _visible() -> bool:
    """Whether a person sees the standard error of this thread; worker processes inherit it, and stay silent."""
    return (
        not _hidden.get()
        and sys.stderr is not None
        and sys.stderr.isatty()
        and threading.current_thread() is threading.main_thread()
        and multiprocessing.parent_process() is None
    )


class _LateBar:
    """A bar of rich that appears after `DELAY` seconds and disappears at the end."""

    def __init__(self, what: str, total: int | None) -> None:
        self._what, self._total, self._done, self._closed = what, total, 0, False
        self._bar: Any = None
        self._task: Any = None
        self._lock = threading.Lock()
        self._timer = threading.Timer(DELAY, self._start)
        self._timer.daemon = True
        self._timer.start()

    def advance(self, done: int) -> None:
        """Show another number."""
        with self._lock:
            self._done = done
            if self._bar is not None:
                self._bar.update(self._task, completed=done)

    def close(self) -> None:
        """Remove the bar; it does not appear later."""
        self._timer.cancel()
        with self._lock:
            if self._bar is not None:
                self._bar.stop()
            self._bar, self._closed = None, True

    def _start(self) -> None:
        with self._lock:
            if self._closed:  # while this thread waited for the lock
                return
            self._bar, self._task = _rich_bar(self._what, self._total, self._done)


def _rich_bar(what: str, total: int | None, done: int) -> tuple[Any, Any]:
    """A started bar on standard error, and its task."""
    from rich import progress
    from rich.console import Console

    columns = (
        progress.TextColumn("{task.description}"),
        progress.BarColumn(),
        progress.MofNCompleteColumn(),
        progress.TimeElapsedColumn(),
    )
    bar = progress.Progress(*columns, console=Console(stderr=True, force_jupyter=False), transient=True)
    task = bar.add_task(what, total=total, completed=done)
    bar.start()
    return bar, task
