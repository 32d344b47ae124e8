"""The guided filter (He, Sun and Tang, PAMI 2013): probabilities whose borders follow those of an image."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import uniform_filter

from mixfield import _threads, kernels
from mixfield._pictures import WHITE, bilinear_neighbours, resize_bilinear

Float32s = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class GuidedFilter:
    """Local linear models of an image: in each window, values are ``a . I + b`` of the colours I.

    Attributes
    ----------
    guide : (H, W, C) colours from 0 to 1; (H, W) stands for (D, H, W) too.
    means : (H, W, C) of the windows.
    inverses : (H, W, C, C) inverse covariances of the windows, regularised.
    width : of the windows, in pixels.
    """

    guide: Float32s
    means: Float32s
    inverses: Float32s
    width: int

    @classmethod
    def of(cls, picture: Float32s, *, radius: int, epsilon: float) -> GuidedFilter:
        """The filter of intensities (H, W, C) from 0 to 255.

        Parameters
        ----------
        picture : the image.
        radius : of the windows.
        epsilon : variance of intensities from 0 to 1 below which a window counts as flat.
        """
        guide, width = picture / np.float32(WHITE), 2 * radius + 1
        means = _window_means(guide, width)
        channels = guide.shape[-1]
        products = (guide[..., :, None] * guide[..., None, :]).reshape(*guide.shape[:-1], -1)
        covariances = _window_means(products, width).reshape(*guide.shape, channels)
        covariances -= means[..., :, None] * means[..., None, :]
        covariances += np.float32(epsilon) * np.eye(channels, dtype=np.float32)
        return cls(guide, means, np.linalg.inv(covariances), width)

    def coefficients(self, values: Float32s) -> Float32s:
        """(H, W, C + 1) smoothed a and b of values (H, W)."""
        mean = _window_means(values[..., None], self.width)
        together = _window_means(self.guide * values[..., None], self.width)
        slopes = np.einsum("...ij,...j->...i", self.inverses, together - mean * self.means)
        offsets = mean - (slopes * self.means).sum(-1, keepdims=True)
        return _window_means(np.concatenate([slopes, offsets], axis=-1), self.width)

    def apply(self, values: Float32s, picture: Float32s | None = None) -> Float32s:
        """The filtered values (H, W), or at the resolution of a larger picture of the same scene, intensities."""
        coefficients = self.coefficients(values)
        guide = self.guide if picture is None else picture / np.float32(WHITE)
        if guide.shape[:-1] != values.shape:
            coefficients = resize_bilinear(coefficients, guide.shape[:-1])
        return np.asarray((coefficients[..., :-1] * guide).sum(-1) + coefficients[..., -1], np.float32)

    def label(self, values: Float32s, picture: Float32s, labels: NDArray[Any]) -> None:
        """Fill ``labels`` (H, W) with the most probable label of each pixel, without the probabilities in between.

        Parameters
        ----------
        values : (h, w, L - 1) probabilities of all labels but the last.
        picture : (H, W, C) intensities, of the same scene at any resolution.
        labels : (H, W) of integers, which become 0 to L - 1.
        """
        scale = np.append(np.full(picture.shape[-1], 1 / WHITE), 1.0).astype(np.float32)
        models = np.stack([self.coefficients(one) for one in np.moveaxis(values, -1, 0)], axis=-2)
        _fill(models * scale, picture, labels)


def _fill(models: Float32s, picture: Float32s, labels: NDArray[Any]) -> None:
    """Label an image, or each plane of a volume, by linear models (*small, L - 1, C + 1)."""
    if labels.ndim == 3:
        below, above, fraction = bilinear_neighbours(len(models), len(labels))
        for z, (low, high) in enumerate(zip(models[below], models[above], strict=True)):
            _fill(low + fraction[z] * (high - low), picture[z], labels[z])
        return
    argmax = kernels.guided_argmax
    rows, columns = (
        argmax.Axis(*bilinear_neighbours(size, target))
        for size, target in zip(models.shape[:2], labels.shape, strict=True)
    )
    _threads.split(
        lambda first, last: argmax.guided_argmax(models, picture, rows, columns, first, last, labels),
        len(labels),
        _threads.available(),
        updates=labels.size,
    )


def _window_means(values: Float32s, width: int) -> Float32s:
    """(H, W, C) means of windows of ``width`` pixels along each axis; at the border the outermost pixels repeat."""
    size = (*(width for _ in values.shape[:-1]), 1)
    return np.asarray(uniform_filter(values, size=size, mode="nearest"), np.float32)
