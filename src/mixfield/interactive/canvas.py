"""What is computed once per image: a reduced picture, its pixel features, its superpixels, its guided filter.

Images (H, W, C) and volumes (D, H, W, C) are treated alike; pixels are voxels there, and superpixels supervoxels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mixfield._pictures import block_means, intensities
from mixfield.interactive.guided_filter import GuidedFilter
from mixfield.interactive.region_graph import pixel_features, refined_at, slic_regions

Float32s = NDArray[np.float32]
Ints = NDArray[np.int64]

LARGEST = {2: 400_000, 3: 1_000_000}  # pixels of the reduced picture, by the number of axes
REGIONS = {2: 1000, 3: 2000}  # superpixels
FINER = 3  # times as many superpixels where labels change
RADII, EPSILON = {2: 8, 3: 4}, 1e-4  # of the guided filter


@dataclass(frozen=True, eq=False)
class Canvas:
    """An image or a volume prepared for strokes; (H, W) stands for (D, H, W) too.

    Attributes
    ----------
    full : (H, W, C) intensities from 0 to 255.
    step : a pixel of ``picture`` is the mean of ``step`` x ``step`` pixels.
    picture : (h, w, C) reduced intensities.
    features : (h, w, 6), see `mixfield.interactive.region_graph.pixel_features`.
    regions : (h, w) superpixels.
    """

    full: Float32s
    step: int
    picture: Float32s
    features: Float32s
    regions: Ints

    @classmethod
    def of(cls, image: ArrayLike, *, n_axes: int = 2, spacing: Sequence[float] | None = None) -> Canvas:
        """The canvas of an image, see `mixfield._pictures.intensities`.

        Parameters
        ----------
        image : (*shape) or (*shape, channels).
        n_axes : of the shape, 2 or 3.
        spacing : size of a pixel along each axis, equal by default.
        """
        full = intensities(image, n_axes=n_axes)
        step = max(1, int(np.ceil((full[..., 0].size / LARGEST[n_axes]) ** (1 / n_axes))))
        picture = block_means(full, step)
        regions = slic_regions(picture, REGIONS[n_axes], spacing=spacing)
        return cls(full, step, picture, pixel_features(picture), regions)

    def refined(self, labels: NDArray[np.integer]) -> Canvas:
        """With smaller superpixels along the borders of a label map (h, w), which larger ones may not follow."""
        finer = slic_regions(self.picture, FINER * REGIONS[len(self.shape)])
        return replace(self, regions=refined_at(self.regions, finer, labels))

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the image."""
        return self.full.shape[:-1]

    @property
    def plane(self) -> tuple[int, int]:
        """Height and width of an image."""
        height, width = self.shape
        return height, width

    @cached_property
    def border_filter(self) -> GuidedFilter:
        """The guided filter of the reduced picture."""
        return GuidedFilter.of(self.picture, radius=RADII[len(self.shape)], epsilon=EPSILON)

    def reduce_labels(self, labels: NDArray[np.signedinteger]) -> Ints:
        """(h, w) labels of strokes (H, W), -1 where there are none; of several in a block the largest."""
        if self.step == 1:
            return labels.astype(np.int64, copy=False)
        reduced = np.full(self.picture.shape[:-1], -1, np.int64)
        known = np.nonzero(labels >= 0)
        np.maximum.at(reduced, tuple(at // self.step for at in known), labels[known])
        return reduced

    def reduce_map(self, labels: NDArray[np.integer]) -> NDArray[np.integer]:
        """(h, w) labels of a map (H, W) in the middle of each block."""
        rows, columns = (
            np.minimum(np.arange(small) * self.step + self.step // 2, large - 1)
            for small, large in zip(self.picture.shape, self.shape, strict=False)
        )
        return np.asarray(labels[np.ix_(rows, columns)])

    def reduce(self, values: Float32s) -> Float32s:
        """(h, w, C) means of values (H, W, C)."""
        return block_means(values, self.step)
