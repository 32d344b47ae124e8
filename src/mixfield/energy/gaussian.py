"""Gaussian kernels between all pairs of pixels: of position, of position and colour, or of any features.

The cost of two pixels i, j with labels l, l' is ``weight * compatibility[l, l'] * k(f_i, f_j)`` with
``k = exp(-|f_i - f_j|^2 / 2)``; by default ``compatibility`` is minus the identity (Potts): agreeing is rewarded.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mixfield import _arrays, _threads
from mixfield.errors import MixfieldError
from mixfield.filters.base import Filter
from mixfield.filters.coarse_grid import CoarseGrid
from mixfield.filters.lattice import Lattice
from mixfield.filters.normalization import Normalization
from mixfield.filters.separable import Separable


@dataclass(frozen=True, eq=False)
class Gaussian:
    """Pixels near each other agree (the smoothness kernel).

    Attributes
    ----------
    sxy : bandwidth in pixels, one number or one per axis of the field.
    weight : strength, one number or one per label.
    compatibility : (L, L) costs of pairs of labels; minus the identity if not given.
    normalization : ``"symmetric"``, ``"before"``, ``"after"`` or ``"none"``.
    """

    sxy: float | Sequence[float]
    weight: float | ArrayLike = 1.0
    compatibility: ArrayLike | None = None
    normalization: Normalization = "symmetric"

    def filter(self, shape: tuple[int, ...], strength: float, *, symmetric: bool) -> Filter:
        """The filter of this kernel on a field of ``shape``: exact for small bandwidths, else to about a thousandth."""
        sigmas = _bandwidths("sxy", self.sxy, len(shape))
        if grid := grid_filter(shape, sigmas):
            return grid.build(shape, sigmas, strength=strength, normalization=self.normalization)
        return _lattice(self.features(shape), self, strength, symmetric)

    def features(self, shape: tuple[int, ...], dtype: Any = np.float32) -> NDArray[Any]:
        """(n, axes) positions divided by the bandwidths, the last axis (x) first."""
        features = np.empty((*shape, len(shape)), dtype)
        _place(features, _bandwidths("sxy", self.sxy, len(shape)))
        return features.reshape(-1, len(shape))


@dataclass(frozen=True, eq=False)
class Bilateral:
    """Pixels near each other *and* of similar colour agree (the appearance kernel).

    Attributes
    ----------
    image : (*shape, channels) or (*shape) intensities, any number of channels.
    sxy : bandwidth of positions in pixels, one number or one per axis.
    srgb : bandwidth of intensities, one number or one per channel.
    weight, compatibility, normalization : as for `Gaussian`.
    origin : position of the first pixel in pixels, one number per axis, where the image is a part of a larger one: the
        parts then share the corners of the lattice.
    """

    image: ArrayLike = field(repr=False)
    sxy: float | Sequence[float]
    srgb: float | Sequence[float]
    weight: float | ArrayLike = 1.0
    compatibility: ArrayLike | None = None
    normalization: Normalization = "symmetric"
    origin: Sequence[int] = ()

    def filter(self, shape: tuple[int, ...], strength: float, *, symmetric: bool) -> Filter:
        """The filter of this kernel on a field of ``shape``."""
        return _lattice(self.features(shape), self, strength, symmetric)

    def features(self, shape: tuple[int, ...], dtype: Any = np.float32) -> NDArray[Any]:
        """(n, axes + channels) positions and intensities divided by the bandwidths."""
        image, axes = _intensities(self.image, shape), len(shape)
        features = np.empty((*shape, axes + image.shape[-1]), dtype)
        _place(features, _bandwidths("sxy", self.sxy, axes), self.origin)
        for channel, width in enumerate(_bandwidths("srgb", self.srgb, image.shape[-1])):
            np.divide(image[..., channel], features.dtype.type(width), out=features[..., axes + channel], dtype=dtype)
        return features.reshape(-1, features.shape[-1])


@dataclass(frozen=True, eq=False)
class Features:
    """Pixels (or points) with similar feature vectors agree.

    Attributes
    ----------
    array : (*shape, d) features, divided by their bandwidths.
    weight, compatibility, normalization : as for `Gaussian`.
    """

    array: ArrayLike = field(repr=False)
    weight: float | ArrayLike = 1.0
    compatibility: ArrayLike | None = None
    normalization: Normalization = "symmetric"

    def filter(self, shape: tuple[int, ...], strength: float, *, symmetric: bool) -> Filter:
        """The filter of this kernel on a field of ``shape``."""
        return _lattice(self.features(shape), self, strength, symmetric)

    def features(self, shape: tuple[int, ...], dtype: Any = np.float32) -> NDArray[Any]:
        """(n, d) the features."""
        array = _real("array", self.array)
        n = int(np.prod(shape))
        if array.ndim < 2 or array.shape[:-1] not in (shape, (n,)):
            raise MixfieldError(f"array must have shape {(*shape, 'd')} = (*shape, d) of the field, got {array.shape}")
        return array.reshape(n, -1).astype(dtype)


Kernel = Gaussian | Bilateral | Features


def grid_filter(shape: tuple[int, ...], sigmas: Sequence[float]) -> type[CoarseGrid] | type[Separable] | None:
    """The filter along the axes of a grid that suits such bandwidths, if there is one."""
    if CoarseGrid.suits(shape, sigmas):
        return CoarseGrid
    return Separable if Separable.suits(sigmas) else None


def _lattice(features: NDArray[Any], kernel: Kernel, strength: float, symmetric: bool) -> Lattice:
    if features.shape[1] == 0:
        raise MixfieldError("array must have at least one feature per pixel, got 0")
    features = np.ascontiguousarray(features, np.float32)
    if not max(features.max(initial=0.0), -features.min(initial=0.0)) < 1e6:
        raise MixfieldError(
            "features divided by their bandwidths must stay below a million, so that neighbours differ in "
            f"single precision; got {np.abs(features).max():.3g}: raise the bandwidths or shift the features to zero"
        )
    return Lattice.build(
        features,
        strength=strength,
        normalization=kernel.normalization,
        symmetric=symmetric,
        threads=_threads.available(),
    )


def _real(name: str, value: Any) -> NDArray[Any]:
    array = _arrays.as_numpy(name, value)
    if array.dtype.kind not in "buif":
        raise MixfieldError(f"{name} must be an array of real numbers, got dtype {array.dtype}")
    if array.dtype.itemsize > 1:
        array = array.astype(np.float32)
        if not np.isfinite(array).all():
            raise MixfieldError(f"{name} must hold finite numbers, got NaN or infinity")
    return array


def _intensities(image: ArrayLike, shape: tuple[int, ...]) -> NDArray[Any]:
    array = _real("image", image)
    if array.shape == shape:
        array = array[..., None]
    if array.shape[:-1] != shape:
        hint = ""
        if len(shape) == 2 and array.ndim >= 2 and array.shape[:2] == shape[::-1]:
            hint = "; rows come first (height, width): transpose the image or the unary"
        raise MixfieldError(
            f"image must have shape {(*shape, 'channels')} or {shape} to match the unary, got {array.shape}{hint}"
        )
    return array


def _bandwidths(name: str, value: float | Sequence[float], count: int) -> list[float]:
    widths = np.atleast_1d(np.asarray(value, np.float64))
    if widths.shape not in ((1,), (count,)):
        raise MixfieldError(f"{name} must be one number or {count}, one per axis or channel, got {widths.size}")
    return [_arrays.positive(name, float(w)) for w in np.broadcast_to(widths, count)]


def _place(features: NDArray[Any], sigmas: Sequence[float], origin: Sequence[int] = ()) -> None:
    """Coordinates over bandwidths into the first of ``features`` (*shape, d), the last axis (x) first."""
    firsts = tuple(origin) or (0,) * len(sigmas)
    if len(firsts) != len(sigmas):
        raise MixfieldError(f"origin must have {len(sigmas)} numbers, one per axis, got {len(firsts)}")
    for axis, (sigma, first) in enumerate(zip(sigmas, firsts, strict=True)):
        places = np.arange(first, first + features.shape[axis], dtype=features.dtype)
        along = places / features.dtype.type(sigma)
        features[..., len(sigmas) - 1 - axis] = along.reshape([-1 if a == axis else 1 for a in range(len(sigmas))])
