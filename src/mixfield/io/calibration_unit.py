"""The unit of a calibration, guessed from how high its camera would be above the ground."""

from __future__ import annotations

import os
import warnings

import numpy as np

from mixfield.errors import CalibrationWarning
from mixfield.io.calibration import Size, read_camera
from mixfield.scene.camera import Calibrated, Camera, Floats

StrPath = str | os.PathLike[str]

UNITS = {"m": 1.0, "cm": 0.01, "mm": 0.001}
TYPICAL_HEIGHT, TYPICAL_EXTENT = 4.0, 12.0  # metres of a camera above the ground, and of the ground that it sees
PLAUSIBLE = 15.0  # factor from the typical length within which a unit is not doubted


def guessed_unit(path: StrPath, *, extrinsics: StrPath | None = None, size: Size | None = None) -> float | None:
    """Metres per unit of a calibration file; None if the default of its format is plausible.  See `read_camera`."""

    def doubt(unit: float | None) -> float:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", CalibrationWarning)  # it is said when the camera is used
            return abs(_doubt(read_camera(path, extrinsics=extrinsics, size=size, unit=unit)))

    if doubt(None) <= np.log(PLAUSIBLE):
        return None
    doubts = {unit: doubt(unit) for unit in UNITS.values()}
    best = min(doubts, key=lambda unit: doubts[unit])
    return best if doubts[best] <= np.log(PLAUSIBLE) else None


def unit_name(unit: float) -> str:
    """mm, cm or m."""
    return next((name for name, value in UNITS.items() if value == unit), f"{unit:g} m")


def visible_ground(camera: Camera, top: float) -> Floats:
    """(k, 2) points of the ground at a grid of pixels between ``top``, a share of the height, and 0.95 of it."""
    x, y = np.meshgrid(np.linspace(0.1, 0.9, 9) * camera.width, np.linspace(top, 0.95, 9) * camera.height)
    points = camera.to_ground(np.stack([x, y], axis=-1)).reshape(-1, 2)
    return np.asarray(points[np.isfinite(points).all(1)])


def _doubt(camera: Camera) -> float:
    """Logarithm of the height of a camera, or the extent of its ground, over what is typical."""
    if isinstance(camera, Calibrated):
        length, typical = abs(float((camera.translation @ camera.rotation)[2])), TYPICAL_HEIGHT
    else:
        length, typical = _extent(camera), TYPICAL_EXTENT
    return float(np.log(length / typical)) if length > 0 else 0.0


def _extent(camera: Camera) -> float:
    """Median distance of ground points in the lower half of the picture from their centre, times two."""
    points = visible_ground(camera, 0.5)
    return 0.0 if len(points) == 0 else 2 * float(np.median(np.linalg.norm(points - np.median(points, 0), axis=1)))
