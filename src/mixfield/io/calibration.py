"""Calibrated cameras from files: Tsai XML (as of PETS), OpenCV (yaml, xml, json, npz), homographies."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mixfield import _arrays, _npy
from mixfield.errors import FileFormatError
from mixfield.io.documents import read_json, read_xml
from mixfield.io.storage import read_storage
from mixfield.scene.camera import Calibrated, Camera, FromHomography
from mixfield.scene.lens import OpenCVLens, TsaiLens

Floats = NDArray[np.float64]
StrPath = str | os.PathLike[str]

_NAMES = {
    "K": ("K", "camera_matrix", "cameraMatrix", "intrinsic", "intrinsics", "intrinsic_matrix", "mtx"),
    "distortion": ("distortion", "dist", "dist_coeffs", "distCoeffs", "distortion_coefficients", "D"),
    "R": ("R", "rotation", "rvec", "rotation_matrix"),
    "t": ("t", "T", "translation", "tvec"),
    "homography": ("homography", "H"),
    "width": ("width", "image_width"),
    "height": ("height", "image_height"),
}


def read_camera(path: StrPath, *, unit: float | None = None, size: tuple[int, int] | None = None) -> Camera:
    """Read a calibration.

    Parameters
    ----------
    path : ``.xml`` of Tsai's model (PETS), ``.yaml``/``.yml``/``.xml`` of OpenCV, ``.json`` or ``.npz``.  OpenCV's
        hold K, R (a matrix or a rotation vector), t, distortion, and the width and height of the image; a file with a
        ``homography`` from the ground to pixels instead of K, R and t gives an upright camera.
    unit : metres per unit of the file; 0.001 for Tsai XML and 1 for the others if not given.
    size : (width, height) of the image, for files that do not tell.
    """
    path = Path(path)
    if path.suffix.lower() == ".xml" and b"<Camera" in path.read_bytes()[:4096]:
        return _tsai(path, 0.001 if unit is None else unit)
    return camera_from(_contents(path), unit=1.0 if unit is None else unit, size=size, name=path.stem, where=str(path))


def camera_from(
    values: Mapping[str, Any],
    *,
    unit: float = 1.0,
    size: tuple[int, int] | None = None,
    name: str = "",
    where: str = "the calibration",
) -> Camera:
    """A camera from named arrays; see `read_camera` for the names."""
    try:
        return _camera(values, unit, size, name, where)
    except (ValueError, TypeError, OverflowError) as error:
        if isinstance(error, FileFormatError):
            raise
        raise FileFormatError(f"{where} is not a calibration: {error}") from None


def _camera(
    values: Mapping[str, Any], unit: float, size: tuple[int, int] | None, name: str, where: str
) -> Calibrated | FromHomography:
    found = {key: values[n] for key, names in _NAMES.items() for n in names if n in values}
    if size is None:
        if "width" not in found or "height" not in found:
            raise FileFormatError(f"{where} lacks width and height of the image; give them there or as size")
        size = (int(np.squeeze(found["width"])), int(np.squeeze(found["height"])))
    if "homography" in found:
        matrix = _matrix(found["homography"], (3, 3), "homography", where)
        return FromHomography(*size, matrix @ np.diag([1.0 / unit, 1.0 / unit, 1.0]), name)
    missing = [key for key in ("K", "R", "t") if key not in found]
    if missing:
        raise FileFormatError(
            f"{where} lacks {', '.join(missing)}; a calibration holds K, R, t (or a homography), and found were "
            f"{', '.join(values) or 'none'}"
        )
    rotation = np.asarray(found["R"], np.float64)
    rotation = (
        _rodrigues(_matrix(rotation, (3,), "R", where)) if rotation.size == 3 else _matrix(rotation, (3, 3), "R", where)
    )
    if not np.allclose(rotation @ rotation.T, np.eye(3), atol=1e-3):
        raise FileFormatError(f"{where}: R is not a rotation")
    lens = OpenCVLens(
        _matrix(found["K"], (3, 3), "K", where),
        np.asarray(found.get("distortion", np.zeros(5)), np.float64).ravel()[:8],
    )
    return Calibrated(*size, rotation, unit * _matrix(found["t"], (3,), "t", where), lens, name)


def _tsai(path: Path, unit: float) -> Calibrated:
    """Tsai's model; the fields of the file in millimetres and pixels."""
    root = read_xml(path)

    def number(section: str, key: str) -> float:
        element = root.find(section)
        text = None if element is None else element.get(key)
        try:
            value = float(text or "")
        except ValueError:
            value = np.nan
        if not np.isfinite(value):
            raise FileFormatError(f"{path}: {section} must have a number {key!r}, got {text!r}")
        return value

    angles = [number("Extrinsic", key) for key in ("rx", "ry", "rz")]
    lens = TsaiLens(
        focal=number("Intrinsic", "focal"),
        kappa=number("Intrinsic", "kappa1"),
        centre=(number("Intrinsic", "cx"), number("Intrinsic", "cy")),
        pixel=(number("Geometry", "dpx") / number("Intrinsic", "sx"), number("Geometry", "dpy")),
    )
    return Calibrated(
        width=int(number("Geometry", "width")),
        height=int(number("Geometry", "height")),
        rotation=_euler(*angles),
        translation=unit * np.array([number("Extrinsic", key) for key in ("tx", "ty", "tz")]),
        lens=lens,
        name=root.get("name") or path.stem,
    )


def _contents(path: Path) -> Mapping[str, Any]:
    """The named arrays of a file."""
    kind = path.suffix.lower()
    if kind == ".npz":
        return _npy.read_npz(path, "is not a calibration")
    if kind == ".json":
        loaded = read_json(path)
        by_opencv = any(isinstance(value, dict) for value in loaded.values())
        return read_storage(path) if by_opencv else loaded
    if kind in (".yaml", ".yml", ".xml"):
        return read_storage(path)
    raise FileFormatError(f"{path}: a calibration is .xml, .yaml, .yml, .json or .npz")


def _matrix(value: Any, shape: tuple[int, ...], name: str, where: str) -> Floats:
    array = np.asarray(value, np.float64)
    if array.size != int(np.prod(shape)) or not (np.abs(array) <= _arrays.LARGEST).all():
        raise FileFormatError(
            f"{where}: {name} must be finite numbers (up to {_arrays.LARGEST:g}) of shape {shape}, "
            f"got shape {array.shape}"
        )
    return array.reshape(shape)


def _euler(x: float, y: float, z: float) -> Floats:
    """Rz Ry Rx."""
    (cx, cy, cz), (sx, sy, sz) = np.cos([x, y, z]), np.sin([x, y, z])
    return np.array(
        [
            [cy * cz, cz * sx * sy - cx * sz, sx * sz + cx * cz * sy],
            [cy * sz, sx * sy * sz + cx * cz, cx * sy * sz - cz * sx],
            [-sy, cy * sx, cx * cy],
        ]
    )


def _rodrigues(vector: Floats) -> Floats:
    """The rotation about ``vector`` by its length."""
    angle = float(np.linalg.norm(vector))
    if angle == 0.0:
        return np.eye(3)
    x, y, z = vector / angle
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.asarray(np.eye(3) + np.sin(angle) * cross + (1 - np.cos(angle)) * cross @ cross)
