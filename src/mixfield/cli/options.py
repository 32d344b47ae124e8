"""Options that several verbs share."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any

import typer

Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON, for programs.")]
Seed = Annotated[int, typer.Option(min=0, help="The same seed gives the same answer.")]
Threads = Annotated[int | None, typer.Option(min=1, help="Threads; they do not change the answer.  [default: all]")]


def solver(threads: int | None) -> Any:
    """The default solver with a number of threads."""
    import mixfield as mf

    if threads is None:
        return mf.Solver()
    os.environ["MIXFIELD_THREADS"] = str(threads)  # also for building filters
    return mf.Solver(threads=threads)


def check_target(path: Path | None) -> None:
    """Complain about an output that cannot be written before the work is done, not after."""
    from mixfield.errors import MixfieldError

    if path is not None and not path.parent.is_dir():
        raise MixfieldError(f"cannot write {path}: the folder {path.parent} does not exist")
    if path is not None and path.is_dir():
        raise MixfieldError(f"cannot write {path}: it is a folder, give the name of a file")


def check_folder(path: Path) -> None:
    """The same for an output that is a folder."""
    from mixfield.errors import MixfieldError

    if path.exists() and not path.is_dir():
        raise MixfieldError(f"cannot write to {path}: it is a file, --out is a folder")
