"""Lens models: from the direction of a ray to a pixel and back, with distortion."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class Lens(Protocol):
    """Directions are (..., 2): x / z and y / z in the frame of the camera, y pointing down."""

    def pixels(self, directions: Floats, /) -> Floats:
        """(..., 2) pixels; NaN outside the field of view of the model."""

    def directions(self, pixels: Floats, /) -> Floats:
        """(..., 2) directions of pixels."""


@dataclass(frozen=True, eq=False)
class TsaiLens:
    """Tsai's model as in the calibration files of PETS: one radial coefficient, from distorted to ideal coordinates.

    Attributes
    ----------
    focal : focal length in mm.
    kappa : ideal = distorted (1 + kappa r^2), r in mm.
    centre : cx, cy in pixels.
    pixel : width and height in mm of a pixel on the sensor, the horizontal scale factor divided out.
    """

    focal: float
    kappa: float
    centre: tuple[float, float]
    pixel: tuple[float, float]

    def pixels(self, directions: Floats) -> Floats:
        ideal = self.focal * directions
        radius = np.sqrt((ideal**2).sum(-1))
        r = radius.copy()  # of the distorted point
        for _ in range(20):  # Newton on r + kappa r^3 = radius
            r = r - (r + self.kappa * r**3 - radius) / (1.0 + 3.0 * self.kappa * r**2)
        failed = np.abs(r + self.kappa * r**3 - radius) > 1e-6 * (1.0 + radius)
        scale = np.where(failed, np.nan, np.divide(r, radius, out=np.ones_like(radius), where=radius > 0))
        return ideal * scale[..., None] / np.array(self.pixel) + np.array(self.centre)

    def directions(self, pixels: Floats) -> Floats:
        distorted = (pixels - np.array(self.centre)) * np.array(self.pixel)
        return distorted * (1.0 + self.kappa * (distorted**2).sum(-1, keepdims=True)) / self.focal


@dataclass(frozen=True, eq=False)
class OpenCVLens:
    """OpenCV's model: a matrix K and coefficients k1 k2 p1 p2 k3 (k4 k5 k6), from ideal to distorted coordinates."""

    matrix: Floats
    coefficients: Floats

    def _distort(self, directions: Floats) -> Floats:
        """(..., 2) distorted directions: rational radial and tangential terms."""
        k = np.zeros(8)
        k[: len(self.coefficients)] = self.coefficients
        x, y = directions[..., 0], directions[..., 1]
        r = x * x + y * y
        scale = (1 + r * (k[0] + r * (k[1] + r * k[4]))) / (1 + r * (k[5] + r * (k[6] + r * k[7])))
        return np.stack(
            [
                x * scale + 2 * k[2] * x * y + k[3] * (r + 2 * x * x),
                y * scale + k[2] * (r + 2 * y * y) + 2 * k[3] * x * y,
            ],
            axis=-1,
        )

    def pixels(self, directions: Floats) -> Floats:
        # beyond the radius at which the distortion polynomial decreases, directions would fold into the image
        distorted = self._distort(directions)
        outwards = self._distort(directions * (1.0 + 1e-4)) - distorted
        folds = (outwards * directions).sum(-1) < 0
        image = np.concatenate([distorted, np.ones_like(distorted[..., :1])], axis=-1) @ self.matrix.T
        return np.where(folds[..., None], np.nan, image[..., :2] / image[..., 2:])

    def directions(self, pixels: Floats) -> Floats:
        flat = np.concatenate([pixels, np.ones_like(pixels[..., :1])], axis=-1) @ np.linalg.inv(self.matrix).T
        distorted = flat[..., :2] / flat[..., 2:]
        ideal = distorted.copy()
        for _ in range(50):  # fixed-point iteration, as cv2.undistortPoints
            ideal = ideal - (self._distort(ideal) - distorted)
        return ideal
