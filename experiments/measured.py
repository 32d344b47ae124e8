"""The measurements behind a page: one file of JSON each, made by `mixfield.batch.map`, so a stopped run goes on."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mixfield import batch
from mixfield.errors import MixfieldError

Row = dict[str, Any]


@dataclass(frozen=True)
class Measured:
    """Work on an item: what ``measure(*values)`` returns is kept as ``<name>.json``.

    Attributes
    ----------
    measure : a function of a module (it is sent to other processes) from an item's values to plain numbers.
    """

    measure: Callable[..., Row]

    def __call__(self, task: tuple[str, tuple[Any, ...]], folder: Path) -> None:
        name, values = task
        (folder / _file(name)).write_text(json.dumps(self.measure(*values)), encoding="utf-8")


def items(tasks: Mapping[str, tuple[Any, ...]]) -> list[batch.Item]:
    """Named values as items of `Measured`, in this order."""
    return [batch.Item(name, (name, values)) for name, values in tasks.items()]


def kept(names: Iterable[str], folder: Path) -> dict[str, Row]:
    """The measurements that are done, in the order of ``names``; a run that is still going on does not mind."""
    found = {}
    for name in names:
        path = folder / _file(name)
        if path.exists():
            try:
                found[name] = json.loads(path.read_text(encoding="utf-8"))
            except ValueError as error:
                raise MixfieldError(f"{path} is no measurement ({error}); remove it and run again") from None
    if not found:
        raise MixfieldError(f"{folder} holds no measurements; run without --page-only first")
    return found


def _file(name: str) -> str:
    return f"{name.replace(' ', '_').replace('/', '_')}.json"
