"""The measurements of the page: one per seed, and one per fold of photographs."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from experiments.measurements import Row


def tasks(seeds: int, images: int, data: Path) -> dict[str, tuple[Any, ...]]:
    """Name of each measurement, and the arguments of `measure`."""
    from experiments.learning.stills import FOLDS

    wanted: dict[str, tuple[Any, ...]] = {}
    for seed in range(seeds):
        wanted |= {f"planted {seed}": ("planted", seed), f"annotators {seed}": ("annotators", seed)}
    return wanted | {f"fold {fold}": ("stills", fold, images, str(data)) for fold in range(FOLDS)}


def measure(part: str, number: int, images: int = 0, data: str = "") -> Row:
    """The rows of one seed or fold of a part of the page."""
    from experiments.learning import annotators, planted, stills

    if part == "planted":
        return {"part": part, "rows": [planted.measure(number)]}
    if part == "annotators":
        return {"part": part, "rows": annotators.measure(number)}
    return {"part": part, "rows": stills.measure(stills.load(Path(data), images), number)}


def by_part(measurements: Iterable[Row]) -> dict[str, list[Row]]:
    """The rows of all measurements."""
    parts: dict[str, list[Row]] = {"planted": [], "annotators": [], "stills": []}
    for one in measurements:
        parts[one["part"]] += one["rows"]
    return parts
