"""What lies between a click and the pixels around it: values along straight rays from the click."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import map_coordinates

Floats = NDArray[np.float64]

RAYS = 96


def along_rays(values: Floats, place: tuple[int, int]) -> tuple[Floats, Floats]:
    """Largest value (h, w) between a place and each pixel, and the sum of the values at distances 0, 1, ... from it.

    Parameters
    ----------
    values : (h, w) of the pixels.
    place : row and column.
    """
    angles = np.arange(RAYS + 1) * 2 * np.pi / RAYS  # the last ray is the first
    farthest = np.hypot(*(max(at, size - 1 - at) for at, size in zip(place, values.shape, strict=True)))
    radii = np.arange(int(np.ceil(farthest)) + 2)[:, None]
    on_rays = map_coordinates(
        values, [place[0] + radii * np.sin(angles), place[1] + radii * np.cos(angles)], order=1, mode="nearest"
    )
    rows, columns = np.mgrid[: values.shape[0], : values.shape[1]]
    down, right = rows - place[0], columns - place[1]
    at = np.hypot(down, right), np.arctan2(down, right) % (2 * np.pi) * RAYS / (2 * np.pi)
    largest, sums = np.maximum.accumulate(on_rays, axis=0), np.cumsum(on_rays, axis=0)
    behind, total = (map_coordinates(one, at, order=1, mode="nearest") for one in (largest, sums))
    return np.asarray(behind), np.asarray(total)
