"""Label maps from strokes on an image or on a volume, without the marginals of every pixel."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mixfield import _arrays
from mixfield.errors import MixfieldError
from mixfield.interactive.canvas import Canvas
from mixfield.interactive.distinct_maps import distinct_maps
from mixfield.interactive.region_field import region_field
from mixfield.interactive.region_modes import pixel_labels, region_modes

Ints = NDArray[np.int64]


def stroke_labelings(
    image: ArrayLike,
    strokes: ArrayLike,
    n_modes: int = 4,
    *,
    spacing: Sequence[float] | None = None,
    n_labels: int | None = None,
) -> tuple[NDArray[np.integer], NDArray[np.float64]]:
    """Several weighted label maps of an image or a volume from strokes.

    The method is that of `mixfield.segment` with strokes; in a volume superpixels are supervoxels.

    Parameters
    ----------
    image : (H, W) or (H, W, channels), or a volume (D, H, W) or (D, H, W, channels); intensities as for
        `mixfield.segment`.
    strokes : (H, W) or (D, H, W) integers: labels, negative where there are no strokes.
    n_modes : largest number of maps.
    spacing : size of a pixel or voxel along each axis, equal by default.
    n_labels : number of labels; by default the largest label plus one, at least two.

    Returns
    -------
    labelings : (K, *shape) different label maps, the heaviest mode first.
    weights : (K,) their weights, which sum to one; not calibrated.

    Examples
    --------
    >>> import numpy as np
    >>> from mixfield.apps import stroke_labelings
    >>> volume = np.zeros((8, 24, 24), np.uint8)
    >>> volume[2:6, 6:18, 6:18] = 200
    >>> strokes = np.full(volume.shape, -1)
    >>> strokes[4, 12, 8:16] = 1
    >>> labelings, weights = stroke_labelings(volume, strokes)
    >>> bool((labelings[0] == (volume > 0)).all())
    True
    """
    labels = _arrays.integers("strokes", strokes, low=-(2**31), high=2**16)
    count = _label_count(labels, n_labels)
    canvas = Canvas.of(image, n_axes=labels.ndim, spacing=_checked_spacing(spacing, labels.ndim))
    _arrays.check_shape("strokes", labels, canvas.shape, "of the image")
    field = region_field(canvas, canvas.reduce_labels(labels), count)
    found = region_modes(field, _arrays.at_least("n_modes", n_modes, 1))
    maps = [pixel_labels(canvas, found, k, labels) for k in range(len(found.chosen))]
    weights = distinct_maps(maps, found.weights)
    return np.stack([maps[k] for k in weights]), np.array(list(weights.values()))


def _checked_spacing(spacing: Sequence[float] | None, n_axes: int) -> list[float] | None:
    sizes = None if spacing is None else [float(size) for size in spacing]
    if sizes is not None and (len(sizes) != n_axes or not all(0 < size < np.inf for size in sizes)):
        raise MixfieldError(f"spacing must be {n_axes} positive numbers, one for each axis, got {spacing!r}")
    return sizes


def _label_count(labels: Ints, n_labels: int | None) -> int:
    if labels.ndim not in (2, 3):
        raise MixfieldError(f"strokes must have shape (H, W) or (D, H, W), got {labels.shape}")
    if labels.size == 0 or labels.max() < 0:
        raise MixfieldError("strokes must give some pixel a label, got none; draw over a part of each label")
    largest = int(labels.max())
    count = max(largest + 1, 2) if n_labels is None else _arrays.at_least("n_labels", n_labels, 2)
    if largest >= count:
        raise MixfieldError(f"strokes must hold labels below n_labels = {count}, got {largest}")
    return count
