"""Simulated annotators: where an annotator who knows the truth clicks next.

The protocol of interactive segmentation: each click lies in the largest wrong region, at the point farthest from its
border, and has the right label; the first one lies in the object.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import distance_transform_edt, label

from experiments.interactive.photographs import OBJECT, UNKNOWN, VOID, Labels

RADIUS = 3  # of the disc that a click marks, in pixels, as far as it lies in the wrong region
EIGHT = np.ones((3, 3))  # neighbours


class Click(NamedTuple):
    """A point with its true label, and the radius of the disc that it marks."""

    row: int
    column: int
    label: int
    radius: float


class Annotator(Protocol):
    """Chooses the next click."""

    def next_click(self, labels: NDArray[Any] | None, truth: Labels) -> Click | None:
        """The next click given the labels shown (None: nothing yet); None if there is nothing to correct."""


class PerfectAnnotator:
    """Clicks in the middle of the largest wrong region."""

    def next_click(self, labels: NDArray[Any] | None, truth: Labels) -> Click | None:
        regions, sizes = wrong_regions(labels, truth)
        if not len(sizes):
            return None
        depth = _depth(regions == 1 + int(sizes.argmax()))
        return _click(int(depth.argmax()), depth, truth)


@dataclass(frozen=True, eq=False)
class CarelessAnnotator:
    """Clicks somewhere inside a wrong region, and misjudges sizes: the larger of the regions by a noisy estimate.

    Attributes
    ----------
    rng : of points and errors.
    sigma : standard deviation of the logarithm of the estimated size.
    ignored : share of the image below which a region is not seen while there are larger ones.
    """

    rng: np.random.Generator
    sigma: float = 0.5
    ignored: float = 2e-3

    def next_click(self, labels: NDArray[Any] | None, truth: Labels) -> Click | None:
        regions, sizes = wrong_regions(labels, truth)
        if not len(sizes):
            return None
        seen = (
            np.where(sizes >= self.ignored * truth.size, sizes, 0) if sizes.max() > self.ignored * truth.size else sizes
        )
        estimate = seen * np.exp(self.sigma * self.rng.standard_normal(len(sizes)))
        depth = _depth(regions == 1 + int(estimate.argmax()))
        inside = np.flatnonzero(depth.ravel() >= 0.3 * depth.max())
        return _click(int(self.rng.choice(inside)), depth, truth)


def wrong_regions(labels: NDArray[Any] | None, truth: Labels) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """(H, W) connected regions of wrong pixels of one true label, from 1, and their sizes; at first the object's."""
    regions, count = np.zeros(truth.shape, np.int32), 0
    wrong = (truth == OBJECT) if labels is None else (labels != truth) & (truth != VOID)
    for value in np.unique(truth[wrong]):
        found, more = label(wrong & (truth == value), structure=EIGHT)
        regions[found > 0] = found[found > 0] + count
        count += more
    return regions, np.bincount(regions.ravel(), minlength=count + 1)[1:]


def _depth(region: NDArray[np.bool_]) -> NDArray[np.float64]:
    """(H, W) distance to the border of a region; the border of the image counts too."""
    return np.asarray(distance_transform_edt(np.pad(region, 1))[1:-1, 1:-1])


def _click(place: int, depth: NDArray[np.float64], truth: Labels) -> Click:
    row, column = np.unravel_index(place, truth.shape)
    radius = min(float(RADIUS), float(depth[row, column]) - 0.5)
    return Click(int(row), int(column), int(truth[row, column]), radius)


def mark(strokes: Labels, click: Click) -> Labels:
    """The strokes with the disc of a click."""
    rows, columns = np.ogrid[: strokes.shape[0], : strokes.shape[1]]
    disc = (rows - click.row) ** 2 + (columns - click.column) ** 2 <= click.radius**2
    return np.where(disc, click.label, strokes)


def no_strokes(truth: Labels) -> Labels:
    """(H, W) of `UNKNOWN`."""
    return np.full(truth.shape, UNKNOWN, np.int64)
