"""Image intensities from 0 to 255 for any dtype, masks from 0 to 1, and bilinear resizing."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mixfield import _arrays
from mixfield.errors import MixfieldError

Float32s = NDArray[np.float32]
Ints = NDArray[np.int64]

WHITE = 255.0


def intensities(image: ArrayLike, *, n_axes: int = 2) -> Float32s:
    """(H, W, channels) intensities from 0 to 255 of an image.

    Parameters
    ----------
    image : (H, W) or (H, W, channels); the fourth of four channels is alpha and dropped.  The dtype determines the
        range: ``bool``, 0 to 65535 for ``uint16``, 0 to 1 for floats, 0 to 255 for other integers.
    n_axes : 3 for a volume (D, H, W) or (D, H, W, channels).
    """
    array = _arrays.as_numpy("image", image)
    if array.ndim not in (n_axes, n_axes + 1) or array.size == 0 or array.dtype.kind not in "buif":
        axes = "H, W" if n_axes == 2 else "D, H, W"
        wanted = f"an array ({axes}) or ({axes}, channels) of numbers"
        raise MixfieldError(f"image must be {wanted}, got shape {array.shape} of {array.dtype}")
    array = array[..., None] if array.ndim == n_axes else array
    array = array[..., :3] if array.shape[-1] == 4 else array
    white = _white(array)
    if not np.isfinite(array).all():
        raise MixfieldError("image must hold finite numbers, got NaN or infinity")
    low, high = array.min(), array.max()
    if low < 0 or high > white:
        raise MixfieldError(
            f"image of {array.dtype} must lie in 0..{white:g}, got {low:.6g}..{high:.6g}; "
            f"{'divide it by its white' if high > 2 * white else 'clip it'}, or convert it to uint8"
        )
    return np.asarray(array, np.float32) * np.float32(WHITE / white)


def _white(array: NDArray[np.generic]) -> float:
    """The intensity of white for the dtype of an array."""
    if array.dtype.kind in "bf":
        return 1.0
    return 65535.0 if array.dtype == np.uint16 else WHITE


def foreground(mask: ArrayLike, size: tuple[int, int], reduction: int, name: str) -> NDArray[np.float64]:
    """(H, W) a mask in [0, 1], of images of ``size`` (height, width), reduced by ``reduction`` along each side.

    It may have been reduced already; 8-bit images are divided by 255, unless they hold nothing but 0 and 1.
    """
    try:
        image = _arrays.as_numpy(name, mask)
        if image.dtype not in (np.bool_, np.uint8):
            image = image.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise MixfieldError(f"{name} must be an array of numbers, got {type(mask).__name__}: {error}") from None
    white = WHITE if image.dtype == np.uint8 and image.max(initial=0) > 1 else 1.0
    values = image[..., :3].mean(-1) if image.ndim == 3 and image.shape[2] in (3, 4) else image
    small = (-(-size[0] // reduction), -(-size[1] // reduction))
    if values.shape not in (size, small):
        raise MixfieldError(f"{name} must have shape (height, width) = {size} as its view, got {image.shape}")
    if image.dtype == np.float64 and not ((values >= 0) & (values <= 1)).all():
        raise MixfieldError(f"{name} must hold numbers in [0, 1] (or 8-bit grey values)")
    whole = reduction == 1 or values.shape == small
    return np.ascontiguousarray(values / white) if whole else _arrays.block_means(values, reduction) / white


def same_aspect(shape: tuple[int, ...], other: tuple[int, ...]) -> bool:
    """Whether (h, w) and (H, W) have the same aspect ratio, up to rounding to a pixel."""
    (h, w), (height, width) = shape, other
    return abs(h - w * height / width) < 1 or abs(w - h * width / height) < 1


def resize_bilinear(array: Float32s, shape: tuple[int, ...], *, align_corners: bool = False) -> Float32s:
    """Linear interpolation of (h, w, C) to (H, W, C) along each axis; of volumes too.

    Parameters
    ----------
    array : (h, w, C), or (d, h, w, C).
    shape : (H, W), or (D, H, W).
    align_corners : the centres of the corner pixels coincide, as in PyTorch; by default the corners of the images do.
    """
    if array.shape[:-1] == shape:
        return array
    for axis in range(array.ndim - 1):
        below, above, way = bilinear_neighbours(array.shape[axis], shape[axis], align_corners=align_corners)
        fraction = np.expand_dims(way, [other for other in range(array.ndim) if other != axis])
        low = array.take(below, axis)
        array = low + fraction * (array.take(above, axis) - low)
    return array


def bilinear_neighbours(size: int, target: int, *, align_corners: bool = False) -> tuple[Ints, Ints, Float32s]:
    """(target,) pixels of an axis of ``size`` below and above each position, and the fraction of the way between."""
    at = _sample_positions(size, target, align_corners)
    below = np.floor(at).astype(np.int64)
    return below, np.minimum(below + 1, size - 1), (at - below).astype(np.float32)


def _sample_positions(size: int, target: int, align_corners: bool) -> NDArray[np.float64]:
    """(target,) positions in an axis of ``size`` pixels."""
    if align_corners:
        return np.linspace(0, size - 1, target)
    return np.clip((np.arange(target) + 0.5) * size / target - 0.5, 0, size - 1)


def block_means(array: Float32s, step: int) -> Float32s:
    """(ceil(H / step), ceil(W / step), C) means of blocks of (H, W, C); those at the border are smaller."""
    if step == 1:
        return array
    sums, counts = array, np.ones(())
    for axis in range(array.ndim - 1):
        starts = np.arange(0, array.shape[axis], step)
        sums = np.add.reduceat(sums, starts, axis=axis)
        lengths = np.diff(np.append(starts, array.shape[axis]))
        counts = counts[..., None] * lengths if counts.ndim else lengths
    return np.asarray(sums / counts[..., None], np.float32)
