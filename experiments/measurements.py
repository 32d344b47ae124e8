"""The measurements of an experiment: one JSON file each, written by `mixfield.batch.map`, so that runs can resume."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mixfield import batch
from mixfield.errors import MixfieldError

Row = dict[str, Any]
Tasks = Mapping[str, tuple[Any, ...]]


@dataclass(frozen=True)
class SaveMeasurement:
    """Work function of `batch.map`: saves ``measure(*values)`` as ``<name>.json``.

    Attributes
    ----------
    measure : function of a module (it is pickled) that returns a `Row`, a dictionary that JSON can hold.
    """

    measure: Callable[..., Row]

    def __call__(self, task: tuple[str, tuple[Any, ...]], folder: Path) -> None:
        name, values = task
        (folder / _file_name(name)).write_text(json.dumps(self.measure(*values)), encoding="utf-8")


def items(tasks: Tasks) -> list[batch.Item]:
    """The items of `SaveMeasurement`, in the order of ``tasks`` (name: arguments of ``measure``)."""
    return [batch.Item(name, (name, values)) for name, values in tasks.items()]


def load_measurements(names: Iterable[str], folder: Path) -> dict[str, Row]:
    """The measurements that are finished, in the order of ``names``; a run may still be writing others."""
    paths = {name: folder / _file_name(name) for name in names}
    rows = {name: _read(path) for name, path in paths.items() if path.exists()}
    if not rows:
        raise MixfieldError(f"{folder} holds no measurements; run without --page-only first")
    return rows


def _read(path: Path) -> Row:
    try:
        return dict(json.loads(path.read_text(encoding="utf-8")))
    except ValueError as error:
        raise MixfieldError(f"{path} is no measurement ({error}); remove it and run again") from None


def _file_name(name: str) -> str:
    return f"{name.replace(' ', '_').replace('/', '_')}.json"
