"""Output for people: tables, a progress bar with the remaining time, and the message after Ctrl-C."""

from __future__ import annotations

import shlex
import sys
import warnings
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

import typer

from mixfield._progress import hidden
from mixfield.cli.interrupts import one_interrupt

AGAIN = "give the same command again"
WIDE = 200  # columns of what is not a terminal, so that lines stay whole
INTERRUPTED = 130  # exit code of a shell command ended by SIGINT


def console() -> Any:
    """The console for results, without line breaks of its own."""
    from rich.console import Console

    return Console(soft_wrap=True, width=None if sys.stdout.isatty() else WIDE)


def say(*lines: str) -> None:
    """Print lines as they are, without markup and colours."""
    for line in lines:
        console().print(line, highlight=False, markup=False)


def command(*words: object) -> str:
    """A command that a shell can be given, with quotes where a path needs them."""
    return shlex.join(map(str, words))


def printable(text: str) -> str:
    """A text from outside, such as a file name, with control characters and undecodable bytes escaped."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def print_table(title: str, heads: Sequence[str], rows: Sequence[Sequence[Any]], *, texts: Sequence[str] = ()) -> None:
    """Print a table: a first column of texts and those of ``texts`` are aligned left, all others right.

    Without heads no header is shown.
    """
    from rich.table import Table
    from rich.text import Text

    table = Table(title=Text(printable(title)), title_justify="left", show_header=any(heads))
    for column, head in enumerate(heads):
        is_text = column == 0 and bool(rows) and isinstance(rows[0][0], str)
        table.add_column(head, justify="left" if is_text or head in texts else "right")
    for row in rows:
        table.add_row(*(Text(printable(str(value))) for value in row))
    console().print(table)


def stop(message: str, *, so_far: str = "") -> typer.Exit:
    """Print that Ctrl-C ended the command, what was written, and how to continue; the caller raises the result."""
    typer.echo(f"mixfield: stopped{so_far}; {message}", err=True)
    return typer.Exit(INTERRUPTED)


def stoppable(verb: Callable[..., None]) -> Callable[..., None]:
    """The verb with a message and exit code 130 after Ctrl-C, and without the progress bars of the library."""

    @wraps(verb)
    def run(*arguments: Any, **options: Any) -> None:
        with one_interrupt():
            try:
                with hidden():
                    verb(*arguments, **options)
            except KeyboardInterrupt:
                raise stop(AGAIN) from None

    return run


class Progress:
    """A progress bar with the remaining time, on terminals only.

    Warnings of the block are suppressed: results hold the same facts as notes.  Entering returns
    ``advance(done, total=None)``.  After Ctrl-C the message ``stopped`` is printed.
    """

    def __init__(self, what: str, total: int | None, *, quiet: bool, stopped: str = AGAIN) -> None:
        from rich import progress
        from rich.console import Console

        console = Console(stderr=True)
        columns = (progress.TextColumn("{task.description}"), progress.BarColumn(), progress.TimeRemainingColumn())
        self._bar = progress.Progress(
            *columns, console=console, transient=True, disable=quiet or not console.is_terminal
        )
        self._task = self._bar.add_task(what, total=total)
        self._warnings = warnings.catch_warnings()
        self._stopped = stopped

    def __enter__(self) -> Any:
        self._warnings.__enter__()
        warnings.simplefilter("ignore")
        try:
            self._bar.start()
        except KeyboardInterrupt:
            self._bar.stop()  # otherwise the cursor stays hidden
            raise
        return lambda done, total=None: self._bar.update(self._task, completed=done, total=total)

    def __exit__(self, kind: type[BaseException] | None, *exc: object) -> None:
        self._bar.stop()
        self._warnings.__exit__(None, None, None)
        if kind is KeyboardInterrupt:
            raise stop(self._stopped) from None
