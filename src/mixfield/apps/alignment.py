"""Overlap of the masks of two frames after alignment: shapes compared whatever the motion.

Each mask is moved to its centroid and scaled by the square root of its area, then sampled on a small grid.  No point of
one frame has to be found in the other.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Labels = NDArray[np.integer]

GRID = 48  # samples along a side
EXTENT = 1.5  # half the side of the grid, in square roots of the area of the mask


@dataclass(frozen=True, eq=False)
class AlignedMasks:
    """The masks of each label in K labelings of an image.

    Attributes
    ----------
    areas : (L, K) share of the image that has each label.
    samples : (L, K, GRID^2) masks after alignment, zero for labels that do not occur.
    """

    areas: Floats
    samples: NDArray[np.float32]

    @staticmethod
    def of(labelings: Labels, n_labels: int) -> AlignedMasks:
        """Masks of labelings (K, H, W)."""
        samples = np.zeros((n_labels, len(labelings), GRID**2), np.float32)
        areas = np.zeros((n_labels, len(labelings)))
        for k, labels in enumerate(labelings):
            for label in np.unique(labels):
                mask = labels == label
                areas[label, k] = mask.mean()
                samples[label, k] = _aligned(mask)
        return AlignedMasks(areas, samples)

    def overlap(self, other: AlignedMasks) -> Floats:
        """(K, M) mean IoU of aligned masks, between the labelings of this image and those of another.

        Labels count by their area, but for the largest one, which is the background: its centroid means nothing.
        """
        background = int((self.areas.mean(1) + other.areas.mean(1)).argmax())
        total = np.zeros((self.areas.shape[1], other.areas.shape[1]))
        weight = np.zeros_like(total)
        for label in range(len(self.areas)):
            if label != background:
                area = self.areas[label][:, None] + other.areas[label]
                total += area * _iou(self.samples[label], other.samples[label])
                weight += area
        return np.asarray(total / np.maximum(weight, 1e-12))


def _aligned(mask: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """(GRID^2,) samples of a mask (H, W) around its centroid."""
    places = np.nonzero(mask)
    radius = EXTENT * len(places[0]) ** 0.5
    offsets = radius * ((np.arange(GRID) + 0.5) / GRID * 2 - 1)
    rows, columns = (np.rint(axis.mean() + offsets).astype(np.int64) for axis in places)
    inside = [(at >= 0) & (at < size) for at, size in zip((rows, columns), mask.shape, strict=True)]
    samples = np.zeros((GRID, GRID), bool)
    samples[np.ix_(*inside)] = mask[np.ix_(rows[inside[0]], columns[inside[1]])]
    return samples.ravel()


def _iou(one: NDArray[np.float32], other: NDArray[np.float32]) -> Floats:
    """(K, M) intersection over union of masks (K, p) and (M, p)."""
    intersection = np.asarray(one @ other.T, np.float64)
    union = one.sum(1, dtype=np.float64)[:, None] + other.sum(1, dtype=np.float64) - intersection
    return np.asarray(intersection / np.maximum(union, 1))
