"""Means over the photographs with bootstrap intervals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from experiments import bootstrap
from experiments.interactive.measure import CARELESS, clicks_to
from experiments.interactive.methods import OURS
from experiments.interactive.offers import ratio
from experiments.interactive.photographs import STROKE_SETS
from experiments.measurements import Row

RESAMPLED = 2000
LEVELS = (0.85, 0.9)
EARLY = 4  # clicks
WORSE = 0.02  # IoU that a click may cost
STROKE_HEADS = ("method", "sparse, first", "sparse, best of 4", "rich, first", "rich, best of 4", "seconds")
RATIO_HEADS = ("NoC@90 of the mixture against", "perfect", "careless")
CLICK_HEADS = (
    "method",
    *(f"NoC@{100 * level:.0f}" for level in LEVELS),
    "seconds a click, median",
    "95 %",
    "IoU after 4",
    "answers that got worse",
)


def stroke_rows(rows: Sequence[Row]) -> list[tuple[str, ...]]:
    """IoU of the answers to strokes: a row for each method."""
    return [(method, *_stroke_cells(found)) for method, found in by_method(rows, "perfect").items()]


def click_rows(rows: Sequence[Row], annotator: str) -> list[tuple[str, ...]]:
    """Number of clicks of an annotator: a row for each method."""
    return [(method, *_click_cells(found)) for method, found in by_method(rows, annotator).items()]


def ratio_rows(rows: Sequence[Row]) -> list[tuple[str, ...]]:
    """Ratio of the numbers of clicks to 90 %, ours to those of each other method, for both annotators."""
    counts = {
        annotator: {method: _counts(found) for method, found in by_method(rows, annotator).items()}
        for annotator in ("perfect", CARELESS)
    }
    others = [method for method in counts["perfect"] if method != OURS]
    return [(method, *(_ratio(counts[annotator], method) for annotator in counts)) for method in others]


def _counts(rows: Sequence[Row]) -> dict[str, int]:
    return {row["photo"]: clicks_to(row["clicks"]["ious"], LEVELS[-1]) for row in rows}


def _ratio(counts: dict[str, dict[str, int]], method: str) -> str:
    """Over the photographs that both have."""
    ours, theirs = counts.get(OURS, {}), counts.get(method, {})
    both = sorted(ours.keys() & theirs.keys())
    return ratio([ours[name] for name in both], [theirs[name] for name in both]) if both else "-"


def by_method(rows: Sequence[Row], annotator: str) -> dict[str, list[Row]]:
    """The measurements of each method, in the order in which they come."""
    found: dict[str, list[Row]] = {}
    for row in rows:
        if row["annotator"] == annotator:
            found.setdefault(row["method"], []).append(row)
    return found


def _stroke_cells(rows: Sequence[Row]) -> list[str]:
    cells = [
        interval([choose(row["strokes"][kind]["ious"][:4]) for row in rows], ".3f")
        for kind in STROKE_SETS
        for choose in (_first, max)
    ]
    seconds = [row["strokes"][kind]["seconds"] for row in rows for kind in STROKE_SETS]
    return [*cells, f"{np.median(seconds):.2f}"]


def _first(values: Sequence[float]) -> float:
    return values[0]


def _click_cells(rows: Sequence[Row]) -> list[str]:
    counts = [interval([clicks_to(row["clicks"]["ious"], level) for row in rows], ".1f") for level in LEVELS]
    seconds = np.concatenate([row["clicks"]["seconds"] for row in rows])
    early = interval([row["clicks"]["ious"][:EARLY][-1] for row in rows], ".3f")
    worse = [after < before - WORSE for row in rows for before, after in pairwise(row["clicks"]["ious"])]
    return [
        *counts,
        f"{np.median(seconds):.2f}",
        f"{np.quantile(seconds, 0.95):.2f}",
        early,
        f"{sum(worse)} of {len(worse)}",
    ]


def interval(values: Sequence[float], form: str, statistic: Callable[[Any], Any] = np.mean) -> str:
    """A statistic of the values with its 95 % bootstrap interval over photographs."""
    low, high = bootstrap.interval(values, statistic)
    return f"{statistic(np.asarray(values)):{form}} [{low:{form}}, {high:{form}}]"
