"""Features that are the positions of a regular grid: their Gaussian sums are separable and need no lattice."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

TOLERANCE = 1e-5  # of a feature, relative to the largest: rounding of single precision


@dataclass(frozen=True)
class Grid:
    """A regular grid: its shape, and a bandwidth in cells along each axis."""

    shape: tuple[int, ...]
    sigmas: tuple[float, ...]


def recognise(features: NDArray[np.float32]) -> Grid | None:
    """The grid, in C order, of which features (d, n) are the positions, one axis each; ``None`` if there is none.

    Constant features have no effect, and no axis.
    """
    n = features.shape[1]
    shape, sigmas, inner = [], [], 1
    for feature in features[::-1]:
        size, step = _run(feature[::inner])
        if n % (inner * size) or not _repeats(feature.reshape(-1, size, inner), step):
            return None
        if size > 1:
            shape.append(size)
            sigmas.append(1.0 / step)
        inner *= size
    return Grid(tuple(shape[::-1]), tuple(sigmas[::-1])) if inner == n > 1 else None


def _run(line: NDArray[np.float32]) -> tuple[int, float]:
    """Length of the rising start of a line of numbers, and the mean step along it."""
    falls = np.flatnonzero(line[1:] <= line[:-1])
    size = int(falls[0]) + 1 if len(falls) else len(line)
    return size, float(line[size - 1] - line[0]) / max(size - 1, 1)


def _repeats(blocks: NDArray[np.float32], step: float) -> bool:
    """Whether blocks (outer, size, inner) all hold the same even steps along their middle axis."""
    even = blocks[0, 0, 0] + np.float32(step) * np.arange(blocks.shape[1], dtype=np.float32)
    error = np.abs(blocks - even[:, None]).max()
    return bool(error <= TOLERANCE * max(1.0, float(np.abs(even).max())))
