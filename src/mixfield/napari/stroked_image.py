"""What two layers of napari ask for: an image or a volume, and strokes on it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mixfield.apps.stroke_labelings import stroke_labelings
from mixfield.errors import MixfieldError

NOTHING = 0  # value of a Labels layer where nothing is painted


@dataclass(frozen=True, eq=False)
class StrokedImage:
    """An image with strokes, independent of the layers it was read from.

    Attributes
    ----------
    image : (*shape) or (*shape, 3 or 4) intensities from 0 to 1, of an image (H, W) or a volume (D, H, W).
    strokes : (*shape) numbers of ``values``, -1 where nothing is painted.
    values : (L,) of the Labels layer; the first is `NOTHING` if only one label is painted.
    spacing : size of a pixel along each axis.
    """

    image: NDArray[np.float32]
    strokes: NDArray[np.int64]
    values: NDArray[np.int64]
    spacing: tuple[float, ...]

    @classmethod
    def of(cls, image: Any, strokes: Any) -> StrokedImage:
        """Read an Image and a Labels layer; a `MixfieldError` if they do not fit one another."""
        pixels, painted = _finest(image), np.asarray(_finest(strokes))
        shape = pixels.shape[:-1] if image.rgb else pixels.shape
        if len(shape) not in (2, 3):
            raise MixfieldError(f"{image.name!r} has {len(shape)} axes; images with 2 and volumes with 3 are segmented")
        if painted.shape != shape:
            raise MixfieldError(f"{strokes.name!r} has the shape {painted.shape}, {image.name!r} has {shape}")
        found = np.unique(painted[painted != NOTHING])
        if len(found) == 0:
            raise MixfieldError(f"nothing is painted in {strokes.name!r}: paint over a part of each label")
        values = found if len(found) > 1 else np.append(NOTHING, found)
        labels = np.where(painted == NOTHING, -1, np.searchsorted(values, painted))
        spacing = tuple(float(abs(size)) or 1.0 for size in image.scale)
        return cls(_scaled(pixels, image), labels, values, spacing)

    def alternatives(self, count: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """(K, *shape) maps of ``values`` and (K,) weights, see `mixfield.apps.stroke_labelings`."""
        labelings, weights = stroke_labelings(
            self.image, self.strokes, count, spacing=self.spacing, n_labels=len(self.values)
        )
        return self.values[labelings], weights


def _finest(layer: Any) -> NDArray[Any]:
    """The array of a layer in full resolution."""
    return np.asarray(layer.data[0] if layer.multiscale else layer.data)


def _scaled(pixels: NDArray[Any], layer: Any) -> NDArray[np.float32]:
    """Intensities from 0 to 1: between the contrast limits, as they are displayed; those of colours by their dtype."""
    if layer.rgb:
        white = np.iinfo(pixels.dtype).max if pixels.dtype.kind in "ui" else 1.0
        return np.asarray(pixels / np.float32(white), np.float32).clip(0, 1)
    low, high = layer.contrast_limits
    scaled = (pixels.astype(np.float32) - low) / max(high - low, np.finfo(np.float32).tiny)
    return np.asarray(np.nan_to_num(scaled).clip(0, 1), np.float32)
