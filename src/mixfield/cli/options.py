"""Options that several verbs share, and checks of their values."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from mixfield.solvers.options import Solver

Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON, for programs.")]
Seed = Annotated[int, typer.Option(min=0, help="The same seed gives the same answer.")]
Threads = Annotated[int | None, typer.Option(min=1, help="Threads; they do not change the answer.  [default: all]")]


@contextmanager
def solver(threads: int | None) -> Iterator[Solver]:
    """A solver with ``--threads``; filters that are built in the block use as many."""
    import mixfield as mf
    from mixfield.batch.threads import thread_limit

    if threads is None:
        yield mf.Solver()
        return
    with thread_limit(threads):
        yield mf.Solver(threads=threads)


def frame_slice(text: str) -> slice:
    """The slice that ``first:last`` or ``first:last:step`` describes; all frames for an empty text."""
    from mixfield.errors import MixfieldError

    try:
        bounds = [int(part) if part else None for part in text.split(":")] if text else [None, None]
        if len(bounds) not in (2, 3):
            raise ValueError
    except ValueError:
        raise MixfieldError(f"--frames must look like 0:400 or 0:400:10, got {text!r}") from None
    return slice(*bounds)


def check_target(path: Path | None) -> None:
    """Raise a `MixfieldError` before the work if a file could not be written after it."""
    from mixfield import _files
    from mixfield.errors import MixfieldError

    if path is None:
        return
    if not path.parent.is_dir():
        raise MixfieldError(f"cannot write {path}: the folder {path.parent} does not exist")
    if path.is_dir():
        raise MixfieldError(f"cannot write {path}: it is a folder, give the name of a file")
    _files.check_writable(path.parent)


def check_folder(path: Path) -> None:
    """Raise a `MixfieldError` before the work if the output folder is a file, or nothing can be written there."""
    from mixfield import _files
    from mixfield.errors import MixfieldError

    if path.exists() and not path.is_dir():
        raise MixfieldError(f"cannot write to {path}: it is a file, --out is a folder")
    _files.check_writable(path)
