"""Straight edges: runs of boundary pixels of a changed region on one row or column that the image does not have.

Cuts are found in windows.  Where the image has no contrast and the field is weak, the border of the window may stay the
border of what changes: such an alternative shows the search, not the image.  The guided filter moves it to where the
image has an edge; what still has a straight one then is not offered.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mixfield.interactive.guided_filter import GuidedFilter

Bools = NDArray[np.bool_]

LENGTH, LENGTH_SHARE = 12, 1 / 18  # least length of a straight edge, in pixels and of the longer side of the image
FLAT_VARIANCE = 1e-4  # of intensities from 0 to 1, for the guided filter


@dataclass(frozen=True, eq=False)
class ImageEdges:
    """Finds straight edges of regions that an image (H, W, channels) of intensities does not have."""

    image: NDArray[Any]

    def follow(self, region: Bools) -> bool:
        """Whether a region (H, W) has no straight edge of its own."""
        return not has_straight_edge(region, self._flat, self._length)

    def refined(self, region: Bools) -> Bools:
        """The region (H, W) with borders that follow the image, by the guided filter."""
        return self._filter.apply(region.astype(np.float32)) > 0.5

    @cached_property
    def _flat(self) -> Bools:
        return flat_pixels(self.image)

    @property
    def _length(self) -> int:
        return max(LENGTH, round(LENGTH_SHARE * max(self.image.shape[:2])))

    @cached_property
    def _filter(self) -> GuidedFilter:
        """With the largest windows that are narrower than a straight edge."""
        radius = (self._length - 1) // 2
        return GuidedFilter.of(self.image.astype(np.float32), radius=radius, epsilon=FLAT_VARIANCE)


def changes_follow(labelings: NDArray[np.integer], root: int, image: NDArray[Any] | None) -> Bools:
    """(K,) whether the change of each of K labelings (K, H, W) against the one at ``root`` follows the image.

    Without an image all do.
    """
    if image is None or len(labelings) < 2:
        return np.ones(len(labelings), bool)
    edges = ImageEdges(image)
    return np.array([edges.follow(labels != labelings[root]) for labels in labelings])


def flat_pixels(picture: NDArray[np.floating]) -> Bools:
    """(H, W) pixels of intensities (H, W, channels) with a gradient of their mean below its median."""
    down, right = _differences(picture.mean(-1).astype(np.float64))
    size = np.hypot(down, right)
    return np.asarray(size < np.median(size))


def has_straight_edge(changed: Bools, flat: Bools, length: int) -> bool:
    """Whether a region has a straight edge that the image does not have.

    Parameters
    ----------
    changed : (H, W) pixels of the region.
    flat : (H, W) pixels where the image has little contrast, see `flat_pixels`.
    length : of a straight edge: so many flat pixels of the region in succession on one row (or column), all with a
        neighbour below or all with one above (on the right, on the left) outside the region.  The border of the image
        is no edge.
    """
    inside = changed & flat
    return _has_run(changed, inside, length) or _has_run(changed.T, inside.T, length)


def _differences(grey: NDArray[np.float64]) -> list[NDArray[np.float64]]:
    """Central differences along both axes; zero along an axis of one pixel."""
    return [np.gradient(grey, axis=axis) if grey.shape[axis] > 1 else np.zeros_like(grey) for axis in (0, 1)]


def _has_run(changed: Bools, inside: Bools, length: int) -> bool:
    """Whether some row has a run of boundary pixels towards the next row or towards the previous one."""
    below, above = np.zeros_like(inside), np.zeros_like(inside)
    below[:-1] = inside[:-1] & ~changed[1:]
    above[1:] = inside[1:] & ~changed[:-1]
    return any(_longest(edge) >= length for edge in (below, above))


def _longest(marked: Bools) -> int:
    """Length of the longest run of marked pixels of a row."""
    padded = np.pad(marked, ((0, 0), (1, 1))).astype(np.int8).ravel()
    steps = np.flatnonzero(np.diff(padded))
    return int((steps[1::2] - steps[::2]).max(initial=0))
