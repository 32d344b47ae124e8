"""From the direction of a ray to a pixel and back: the part of a camera that bends light."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class Lens(Protocol):
    """Directions are (..., 2): x / z and y / z in the frame of the camera, y pointing down."""

    def pixels(self, directions: Floats, /) -> Floats:
        """(..., 2) pixels; NaN where the lens cannot see."""

    def directions(self, pixels: Floats, /) -> Floats:
        """(..., 2) directions of pixels."""


@dataclass(frozen=True, eq=False)
class TsaiLens:
    """Tsai's model as in the calibration files of PETS: one radial coefficient, from the bent image to the ideal one.

    Attributes
    ----------
    focal : focal length in mm.
    kappa : ideal = bent (1 + kappa r^2), r in mm.
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
        bent = radius.copy()
        for _ in range(20):  # Newton on bent + kappa bent^3 = radius
            bent = bent - (bent + self.kappa * bent**3 - radius) / (1.0 + 3.0 * self.kappa * bent**2)
        lost = np.abs(bent + self.kappa * bent**3 - radius) > 1e-6 * (1.0 + radius)
        scale = np.where(lost, np.nan, np.divide(bent, radius, out=np.ones_like(radius), where=radius > 0))
        return ideal * scale[..., None] / np.array(self.pixel) + np.array(self.centre)

    def directions(self, pixels: Floats) -> Floats:
        bent = (pixels - np.array(self.centre)) * np.array(self.pixel)
        return bent * (1.0 + self.kappa * (bent**2).sum(-1, keepdims=True)) / self.focal


@dataclass(frozen=True, eq=False)
class OpenCVLens:
    """OpenCV's model: a matrix K and coefficients k1 k2 p1 p2 k3 (k4 k5 k6), from the ideal image to the bent one."""

    matrix: Floats
    coefficients: Floats

    def _bend(self, directions: Floats) -> Floats:
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
        # beyond the radius at which the polynomial turns back, a direction would fold into the image
        bent = self._bend(directions)
        outwards = self._bend(directions * (1.0 + 1e-4)) - bent
        folds = (outwards * directions).sum(-1) < 0
        ideal = np.concatenate([bent, np.ones_like(bent[..., :1])], axis=-1) @ self.matrix.T
        return np.where(folds[..., None], np.nan, ideal[..., :2] / ideal[..., 2:])

    def directions(self, pixels: Floats) -> Floats:
        flat = np.concatenate([pixels, np.ones_like(pixels[..., :1])], axis=-1) @ np.linalg.inv(self.matrix).T
        bent = flat[..., :2] / flat[..., 2:]
        ideal = bent.copy()
        for _ in range(50):
            ideal = ideal - (self._bend(ideal) - bent)
        return ideal
