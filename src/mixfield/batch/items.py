"""What is worked through, and what became of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

Work = Callable[[Any, Path], Any]
"""``work(argument, folder)`` writes its results into ``folder`` and returns facts that fit into JSON."""


@dataclass(frozen=True)
class Item:
    """One piece of work.

    Attributes
    ----------
    name : what people and the manifest call it; no two items of a batch have the same.
    argument : what the work is called with; must be picklable for workers in other processes.
    inputs : files it is made from; when one of them changes, a finished item is done again.
    """

    name: str
    argument: Any
    inputs: tuple[Path, ...] = ()

    def stamp(self) -> list[list[int] | None]:
        """Size and time of change of each input, None where there is none."""
        return [_stamp(path) for path in self.inputs]


@dataclass(frozen=True)
class Outcome:
    """What became of an item.

    Attributes
    ----------
    name : of the item.
    files : path in the folder of results -> SHA-256 of what was written there.
    facts : what the work returned.
    failure : why there is no result, None if there is one.
    trace : where an unexpected error came from.
    stamp : see `Item.stamp`, when the work began.
    fresh : False for a result of an earlier run.
    stops : the failure is one of the place that results go to, and every other item would meet it too.
    """

    name: str
    files: Mapping[str, str] = field(default_factory=dict)
    facts: Any = None
    failure: str | None = None
    trace: str | None = None
    stamp: list[list[int] | None] = field(default_factory=list)
    fresh: bool = True
    stops: bool = False


class Engine(Protocol):
    """Where the work is done."""

    def run(self, work: Work, items: Iterable[Item], out: Path, /) -> Iterator[Outcome]:
        """Perform the work on each item; outcomes come in the order in which they are ready."""


def _stamp(path: Path) -> list[int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return [status.st_size, status.st_mtime_ns]
