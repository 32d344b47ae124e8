"""Checks of the arguments of pydensecrf's functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mixfield import _arrays
from mixfield.errors import MixfieldError


def bandwidths(name: str, value: float | Sequence[float], count: int) -> list[float]:
    """``count`` positive bandwidths, from one number or one for each axis or channel."""
    widths = np.asarray(value, np.float64)
    if widths.shape not in ((), (count,)):
        raise MixfieldError(f"{name} must be one number or {count}, one for each axis or channel, got {value!r}")
    return [_arrays.positive(name, float(width)) for width in np.broadcast_to(widths, count)]


def matrix(name: str, value: ArrayLike) -> NDArray[Any]:
    """A matrix of real numbers; +inf passes, NaN and -inf do not."""
    array = np.asarray(value)
    if array.ndim != 2 or array.size == 0 or array.dtype.kind not in "buif":
        raise MixfieldError(f"{name} must be a matrix of real numbers, got shape {array.shape} of {array.dtype}")
    for column in np.flatnonzero(~(array.min(axis=0) > -np.inf))[:1]:
        raise MixfieldError(f"{name} must not contain NaN or -inf, got one in column {column}")
    return array


def image(rgbim: ArrayLike, shape: tuple[int, ...]) -> NDArray[Any]:
    """A copy of an image (h, w, channels)."""
    pixels = np.array(rgbim)
    if pixels.dtype.kind not in "uif":
        raise MixfieldError(f"rgbim must hold intensities, usually uint8 from 0 to 255, got dtype {pixels.dtype}")
    if pixels.ndim == 2:
        pixels = pixels[..., None]
    if pixels.ndim != 3 or pixels.shape[:2] != shape:
        swapped = pixels.shape[:2] == shape[::-1]
        raise MixfieldError(
            f"rgbim must have shape (h, w, channels) = {(*shape, 3)}, got {np.shape(rgbim)}"
            + ("; DenseCRF2D takes the width first: DenseCRF2D(rgbim.shape[1], rgbim.shape[0], nlabels)" * swapped)
        )
    if pixels.dtype.kind == "f":
        if not np.isfinite(pixels).all():
            raise MixfieldError("rgbim must hold finite intensities, got NaN or infinity")
        if 0 < np.abs(pixels).max() <= 1:
            raise MixfieldError(
                "rgbim holds intensities between 0 and 1, but srgb is meant for 0 to 255: pass 255 * rgbim; for other "
                "scales use utils.create_pairwise_bilateral and addPairwiseEnergy"
            )
    return pixels


def shape_hint(got: tuple[int, ...], n_labels: int, n: int, shape: tuple[int, ...]) -> str:
    """What may be wrong with the shape of a unary, as the end of an error message."""
    if got == (n, n_labels):
        return "; labels come first: pass u.T"
    if got == (*shape, n_labels):
        return "; labels come first: pass np.moveaxis(u, -1, 0)"
    if got == (n_labels, *shape[::-1]):
        return "; width and height are swapped: DenseCRF2D takes the width first, arrays the height"
    return ""
