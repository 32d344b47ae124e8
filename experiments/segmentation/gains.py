"""Gains of the best of K segmentations over mean field, in points of mean IoU."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from experiments.measurements import Row

Floats = NDArray[np.float64]
Image = tuple[str, str]

COUNTS = (1, 2, 4, 8, 16, 32)
FAMILIES = ("DivMBest", "noise")  # methods with a strength
FEWEST = 5  # images that a method must have
COVERED = 0.5  # share of our images that a strength of DivMBest or noise must have to be compared


def gain(row: Row, count: int) -> float:
    """Points of mean IoU that the best of the first ``count`` segmentations has over mean field."""
    return 100 * (max([row["mean_field"], *row["ious"][:count]]) - row["mean_field"])


def gains(rows: Sequence[Row]) -> dict[str, dict[str, Floats]]:
    """(images, counts) gains by network and method, on the images of `common_images`.

    The counts are those of `COUNTS` for which every image has enough segmentations of that method.
    """
    return {
        net: {
            name: np.array([[gain(row, count) for count in _counts(found)] for row in found])
            for name, found in methods.items()
        }
        for net, methods in common_images(rows).items()
    }


def leads(ours: Sequence[Row], others: Sequence[Row]) -> Floats:
    """(images, counts) our gain minus that of another method, on the images of the latter."""
    counts = [count for count in _counts(others) if count in _counts(ours)]
    return np.array([[gain(own, count) - gain(other, count) for count in counts] for own, other in pairs(ours, others)])


def pairs(ours: Sequence[Row], others: Sequence[Row]) -> list[tuple[Row, Row]]:
    """Our row and that of another method, for each image of the latter."""
    by_image = {_image(row): row for row in ours}
    return [(by_image[_image(row)], row) for row in others]


def _image(row: Row) -> Image:
    return row["set"], row["image"]


def _counts(rows: Sequence[Row]) -> list[int]:
    return [count for count in COUNTS if count <= min(row["wanted"] for row in rows)]


def at_equal_calls(rows: Sequence[Row], count: int) -> dict[str, dict[str, Floats]]:
    """(images, 3) for other methods: our gain with ``count`` modes, its gain for as many filterings, and how many
    segmentations these gave.

    Only methods that have twice as many segmentations.
    """
    return {
        net: {
            name: np.array([_at_equal_calls(own, other, count) for own, other in pairs(methods["ours"], others)])
            for name, others in methods.items()
            if name != "ours" and _counts(others)[-1] >= 2 * count
        }
        for net, methods in common_images(rows).items()
    }


def _at_equal_calls(own: Row, other: Row, count: int) -> tuple[float, float, float]:
    affordable = int(np.searchsorted(other["spent"], own["spent"][:count][-1], side="right"))
    return gain(own, count), gain(other, affordable), float(affordable)


def common_images(rows: Sequence[Row]) -> dict[str, dict[str, list[Row]]]:
    """Rows by network and method, of the images that our modes and the strengths tried on most images have.

    Other methods may have only some of them.  Networks with too few measurements are left out.
    """
    networks = dict.fromkeys(row["net"] for row in rows)
    tables = {net: _common_images([row for row in rows if row["net"] == net]) for net in networks}
    return {net: methods for net, methods in tables.items() if _is_enough(methods)}


def _common_images(rows: Sequence[Row]) -> dict[str, list[Row]]:
    """The same for the rows of one network."""
    found: dict[str, dict[Image, Row]] = {}
    for row in rows:
        found.setdefault(row["method"], {})[_image(row)] = row
    enough = COVERED * len(found.get("ours", ()))
    rivals = [name for name, one in found.items() if name.startswith(FAMILIES) and len(one) >= enough]
    images = sorted(set.intersection(*(set(found.get(name, ())) for name in ("ours", *rivals))))
    common = {name: [one[image] for image in images if image in one] for name, one in found.items()}
    return {
        name: some
        for name, some in common.items()
        if name in rivals or (not name.startswith(FAMILIES) and len(some) >= FEWEST)
    }


def _is_enough(methods: dict[str, list[Row]]) -> bool:
    """Whether our modes and both families were measured on enough images."""
    rivals = all(any(name.startswith(family) for name in methods) for family in FAMILIES)
    return rivals and len(methods.get("ours", ())) >= FEWEST


def best_strength(table: dict[str, Floats], family: str) -> str:
    """The member of a family, such as DivMBest with some strength, that gains most on average."""
    members = [name for name in table if name.startswith(family)]
    last = min(table[name].shape[1] for name in members) - 1
    return max(members, key=lambda name: float(table[name][:, last].mean()))


def calls_per_mode(rows: Sequence[Row]) -> float:
    """Filterings of the labels of one mode, per segmentation."""
    return sum(row["spent"][-1] for row in rows) / sum(len(row["spent"]) for row in rows)
