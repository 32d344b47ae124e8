"""The numbers of ``segmentation.json``: gains on several selections of the images, and rankings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments.bootstrap import interval
from experiments.measurements import Row
from experiments.mode_ranking import FEATURES
from experiments.segmentation.gains import (
    COUNTS,
    FAMILIES,
    at_equal_calls,
    best_strength,
    calls_per_mode,
    common_images,
    gains,
    leads,
)
from experiments.segmentation.ranking import ranking

Floats = NDArray[np.float64]
Rows = Sequence[Row]

ENOUGH = 0.8  # share of the images of the other size from which a size is used for the ranking
FULL, THIRD = "full resolution", "a third of the size"
SAME = "the same images"


def results(rows: Rows, made_by: dict[str, Any]) -> dict[str, Any]:
    """All numbers of the page."""
    sizes = {
        FULL: [row for row in rows if row["step"] == 1],
        THIRD: [row for row in rows if row["step"] > 1],
    }
    size, thorough = _finest(sizes), {name: _thorough(some) for name, some in sizes.items()}
    coefficients, report = ranking(sizes[size])
    return {
        "made_by": made_by,
        "parts": {name: part for name, some in _selections(sizes).items() if (part := _gains(some))},
        "done": {name: _images_done(some) for name, some in sizes.items()},
        "equal_calls": _equal_calls(thorough, max(row["wanted"] for row in rows)),
        "coefficients": dict(zip(FEATURES, coefficients, strict=True)),
        "ranking": {"size": size} | report,
    }


def _selections(sizes: dict[str, list[Row]]) -> dict[str, list[Row]]:
    """Selections of the rows, by the name of their section."""
    selections = {FULL: sizes[FULL], f"{SAME}, {THIRD}": _same(sizes[THIRD], sizes[FULL])} | sizes
    for name, select in (("every seventh image", _thorough), ("the other half of the images", _other_half)):
        some = {size: select(rows) for size, rows in sizes.items()}
        size = _finest(some)
        selections[f"{name}, {size}"] = some[size]
    return selections


def _images_done(rows: Rows) -> int:
    return sum(row["method"] == "ours" for row in rows)


def _finest(sizes: dict[str, list[Row]]) -> str:
    """The first size at which nearly as many images are measured as at any."""
    done = {name: _images_done(rows) for name, rows in sizes.items()}
    return next(name for name, count in done.items() if count >= ENOUGH * max(done.values()))


def _same(rows: Rows, others: Rows) -> list[Row]:
    """The rows of images and methods that ``others`` have too; none if that is all of them."""
    measured = {(row["net"], row["set"], row["image"], row["method"]) for row in others}
    same = [row for row in rows if (row["net"], row["set"], row["image"], row["method"]) in measured]
    return same if len(same) < len(rows) else []


def _thorough(rows: Rows) -> list[Row]:
    """The rows of the images with more segmentations than others."""
    fewest = min((row["wanted"] for row in rows), default=0)
    images = {(row["net"], row["set"], row["image"]) for row in rows if row["wanted"] > fewest}
    return [row for row in rows if (row["net"], row["set"], row["image"]) in images]


def _other_half(rows: Rows) -> list[Row]:
    """The rows of every second image of a set: those on which cuts of whole labels were not chosen."""
    images: dict[str, set[str]] = {}
    for row in rows:
        images.setdefault(row["set"], set()).add(row["image"])
    second = {(name, image) for name, some in images.items() for image in sorted(some)[1::2]}
    return [row for row in rows if (row["set"], row["image"]) in second]


def _gains(rows: Rows) -> dict[str, Any]:
    """Gains by network and method; ``tuned`` names the best strengths."""
    found: dict[str, Any] = {}
    measured = common_images(rows)
    for net, methods in gains(rows).items():
        ours = measured[net]["ours"]
        found[net] = {name: _method(values, ours, measured[net][name]) for name, values in methods.items()}
        found[net]["tuned"] = [best_strength(methods, family) for family in FAMILIES]
    return found


def _method(values: Floats, ours: Rows, rows: Rows) -> dict[str, Any]:
    """Gains (images, counts) of a method, and the differences to ours."""
    return {
        "images": len(values),
        "mean": values.mean(0).round(3).tolist(),
        "median": np.median(values, 0).round(3).tolist(),
        "interval": [_rounded(interval(column)) for column in values.T],
        "behind ours": [_mean_and_interval(column) for column in leads(ours, rows).T],
        "calls per mode": round(calls_per_mode(rows), 1),
    }


def _equal_calls(sizes: dict[str, list[Row]], most: int) -> dict[str, Any]:
    """Other methods with as many filterings as our modes, for the numbers of modes that leave a factor of two."""
    size = _finest(sizes)
    counts = [count for count in COUNTS if 8 <= count <= most // 2]
    return {"size": size, "gains": {str(count): _equal_calls_at(sizes[size], count) for count in counts}}


def _equal_calls_at(rows: Rows, count: int) -> dict[str, Any]:
    return {
        net: {
            name: {
                "images": len(values),
                "ours": round(float(values[:, 0].mean()), 3),
                "gain": round(float(values[:, 1].mean()), 3),
                "segmentations": round(float(values[:, 2].mean()), 1),
                "behind ours": _mean_and_interval(values[:, 0] - values[:, 1]),
            }
            for name, values in methods.items()
        }
        for net, methods in at_equal_calls(rows, count).items()
    }


def _mean_and_interval(differences: Floats) -> list[float]:
    return _rounded((float(differences.mean()), *interval(differences)))


def _rounded(values: Sequence[float]) -> list[float]:
    return [round(value, 3) for value in values]
