"""Items of a batch, their outcomes, and the engine that maps one to the other."""

from __future__ import annotations

import hashlib
import stat
from collections.abc import Callable, Generator, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

Work = Callable[[Any, Path], Any]
"""``work(argument, folder)`` writes its results into ``folder`` and returns facts that can be written as JSON."""

Stamp = list[int | str] | None
"""[size, modification time in ns, SHA-256 of a sample of the content] of a file; None for a missing file."""

BLOCKS, BLOCK_BYTES = 16, 1 << 14  # of the sample; smaller files are read completely


@dataclass(frozen=True)
class Item:
    """One call of the work.

    Attributes
    ----------
    name : unique in its batch; used in the manifest and in messages.
    argument : first argument of the work; must be picklable for workers in other processes.
    inputs : files that the result depends on; an item with a changed input is repeated.
    """

    name: str
    argument: Any
    inputs: tuple[Path, ...] = ()

    def stamp(self) -> list[Stamp]:
        """The stamp of each input."""
        return [_stamp(path) for path in self.inputs]


@dataclass(frozen=True)
class Outcome:
    """Result or failure of an item.

    Attributes
    ----------
    name : name of the item.
    files : relative path in the output folder -> SHA-256 of the content.
    facts : return value of the work.
    failure : reason why there is no result; None for a result.
    trace : traceback of an unexpected error.
    stamp : `Item.stamp` at the start of the work.
    fresh : False for a result of an earlier run.
    fatal : the output folder cannot be written, so that every other item would fail too.
    """

    name: str
    files: Mapping[str, str] = field(default_factory=dict)
    facts: Any = None
    failure: str | None = None
    trace: str | None = None
    stamp: list[Stamp] = field(default_factory=list)
    fresh: bool = True
    fatal: bool = False


class Engine(Protocol):
    """Runs the work on items: `Serial`, `Processes`, `Dask`, or an own class with this method."""

    def run(self, work: Work, items: Iterable[Item], out: Path, /) -> Generator[Outcome]:
        """Yield the outcome of each item as it completes; closing the generator stops the workers."""


def _stamp(path: Path) -> Stamp:
    try:
        status = path.stat()
        content = _sample_digest(path, status.st_size) if stat.S_ISREG(status.st_mode) else ""
    except OSError:
        return None
    return [status.st_size, status.st_mtime_ns, content]


def _sample_digest(path: Path, size: int) -> str:
    """SHA-256 of a file, of evenly spaced blocks if it is large.

    Size and time are not enough: scores of equal shape have equal sizes, and archives may give all files one time.
    """
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        if size <= BLOCKS * BLOCK_BYTES:
            digest.update(file.read())
        else:
            for k in range(BLOCKS):
                file.seek(k * (size - BLOCK_BYTES) // (BLOCKS - 1))
                digest.update(file.read(BLOCK_BYTES))
    return digest.hexdigest()
