"""What is computed once per image: a reduced picture, its pixel features, its superpixels, its guided filter."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mixfield.apps.guided_filter import GuidedFilter
from mixfield.apps.pictures import intensities
from mixfield.apps.region_graph import pixel_features, slic_regions

Float32s = NDArray[np.float32]
Ints = NDArray[np.int64]

LARGEST = 400_000  # pixels of the reduced picture
RADIUS, EPSILON = 8, 1e-4  # of the guided filter


@dataclass(frozen=True, eq=False)
class Canvas:
    """An image prepared for strokes.

    Attributes
    ----------
    full : (H, W, C) intensities from 0 to 255.
    step : a pixel of ``picture`` is the mean of ``step`` x ``step`` pixels.
    picture : (h, w, C) reduced intensities.
    features : (h, w, 6), see `mixfield.apps.region_graph.pixel_features`.
    regions : (h, w) superpixels.
    """

    full: Float32s
    step: int
    picture: Float32s
    features: Float32s
    regions: Ints

    @classmethod
    def of(cls, image: ArrayLike) -> Canvas:
        """The canvas of an image (H, W) or (H, W, channels), see `mixfield.apps.pictures.intensities`."""
        full = intensities(image)
        step = int(np.ceil(np.sqrt(full.shape[0] * full.shape[1] / LARGEST)))
        picture = block_means(full, max(step, 1))
        return cls(full, max(step, 1), picture, pixel_features(picture), slic_regions(picture))

    @property
    def shape(self) -> tuple[int, int]:
        """Height and width of the image."""
        return self.full.shape[0], self.full.shape[1]

    @cached_property
    def border_filter(self) -> GuidedFilter:
        """The guided filter of the reduced picture."""
        return GuidedFilter.of(self.picture, radius=RADIUS, epsilon=EPSILON)

    def reduce_labels(self, labels: NDArray[np.signedinteger]) -> Ints:
        """(h, w) labels of strokes (H, W), -1 where there are none; of several in a block the largest."""
        if self.step == 1:
            return labels.astype(np.int64, copy=False)
        reduced = np.full(self.picture.shape[:2], -1, np.int64)
        rows, columns = np.nonzero(labels >= 0)
        np.maximum.at(reduced, (rows // self.step, columns // self.step), labels[rows, columns])
        return reduced

    def reduce(self, values: Float32s) -> Float32s:
        """(h, w, C) means of values (H, W, C)."""
        return block_means(values, self.step)


def block_means(array: Float32s, step: int) -> Float32s:
    """(ceil(H / step), ceil(W / step), C) means of blocks; those at the border are smaller."""
    if step == 1:
        return array
    sums, counts = array, np.ones(())
    for axis in (0, 1):
        starts = np.arange(0, array.shape[axis], step)
        sums = np.add.reduceat(sums, starts, axis=axis)
        lengths = np.diff(np.append(starts, array.shape[axis]))
        counts = counts[..., None] * lengths if counts.ndim else lengths
    return np.asarray(sums / counts[..., None], np.float32)
