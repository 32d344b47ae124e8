"""Calibrated cameras from files: Tsai XML (as of PETS), OpenCV (yaml, xml, json, npz), homographies."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element

import numpy as np
from numpy.typing import NDArray

from mixfield import _arrays, _npy
from mixfield.errors import CalibrationWarning, FileFormatError
from mixfield.io.documents import MAX_DOCUMENT, read_json, read_xml
from mixfield.io.storage import read_storage
from mixfield.scene.camera import Calibrated, Camera, FromHomography
from mixfield.scene.lens import OpenCVLens, TsaiLens

Floats = NDArray[np.float64]
StrPath = str | os.PathLike[str]
Size = tuple[int, int]

NAMES = {  # by which files call the parts of a calibration
    "K": ("K", "camera_matrix", "cameraMatrix", "intrinsic", "intrinsics", "intrinsic_matrix", "mtx"),
    "distortion": ("distortion", "dist", "dist_coeffs", "distCoeffs", "distortion_coefficients", "D"),
    "R": ("R", "rotation", "rvec", "rotation_matrix"),
    "t": ("t", "T", "translation", "tvec"),
    "homography": ("homography", "H"),
    "width": ("width", "image_width"),
    "height": ("height", "image_height"),
}
TSAI_UNIT, OPENCV_UNIT = 0.001, 1.0  # metres
MAX_COEFFICIENTS = 8  # of the distortion
ROTATION_TOLERANCE = 1e-3


def read_camera(
    path: StrPath,
    *,
    extrinsics: StrPath | None = None,
    unit: float | None = None,
    size: Size | None = None,
    name: str | None = None,
) -> Camera:
    """Read a calibration.

    Parameters
    ----------
    path : ``.xml`` of Tsai's model (PETS), ``.yaml``, ``.yml`` or ``.xml`` of OpenCV, ``.json`` or ``.npz``.  All but
        Tsai's contain K, R (a matrix or a rotation vector), t, distortion, and the width and height of the image; a
        file with a ``homography`` from the ground to pixels instead of K, R and t gives an upright camera.
    extrinsics : a second file with R and t, where ``path`` has only K and distortion.
    unit : metres per unit of the file; by default 0.001 for Tsai XML and 1 for the others.
    size : (width, height) of the image, for files without it.
    name : of the camera; by default of the file.

    Warns
    -----
    CalibrationWarning
        R and t put the ground behind the camera, as those of MultiviewX do: their signs are changed.
    """
    path = Path(path)
    root = read_xml(path) if path.suffix.lower() == ".xml" else None
    if root is not None and root.tag == "Camera":
        return _tsai_camera(_TsaiFile(path, root), TSAI_UNIT if unit is None else unit)
    unit = OPENCV_UNIT if unit is None else unit
    values = dict(_contents(path)) | ({} if extrinsics is None else dict(_contents(Path(extrinsics))))
    where = str(path) if extrinsics is None else f"{path} with {extrinsics}"
    return camera_from(values, unit=unit, size=size, name=path.stem if name is None else name, where=where)


def camera_from(
    values: Mapping[str, Any],
    *,
    unit: float = OPENCV_UNIT,
    size: Size | None = None,
    name: str = "",
    where: str = "the calibration",
) -> Camera:
    """A camera from named arrays.

    Parameters
    ----------
    values : arrays by the names of `NAMES`, see `read_camera`.
    unit, size : see `read_camera`.
    name : of the camera.
    where : what error messages call the source.
    """
    try:
        return _camera(values, unit, size, name, where)
    except FileFormatError:
        raise
    except (ValueError, TypeError, OverflowError) as error:
        raise FileFormatError(f"{where} is not a calibration: {error}") from None


def _camera(values: Mapping[str, Any], unit: float, size: Size | None, name: str, where: str) -> Camera:
    found = {key: values[n] for key, names in NAMES.items() for n in names if n in values}
    width, height = _image_size(found, where) if size is None else size
    if "homography" in found:
        matrix = _matrix(found["homography"], (3, 3), "homography", where)
        return FromHomography(width, height, matrix @ np.diag([1.0 / unit, 1.0 / unit, 1.0]), name)
    missing = [key for key in ("K", "R", "t") if key not in found]
    if missing:
        raise FileFormatError(
            f"{where} lacks {', '.join(missing)}; a calibration holds K, R, t (or a homography), and found were "
            f"{', '.join(values) or 'none'}"
        )
    distortion = np.asarray(found.get("distortion", np.zeros(5)), np.float64).ravel()[:MAX_COEFFICIENTS]
    lens = OpenCVLens(_matrix(found["K"], (3, 3), "K", where), distortion)
    translation = unit * _matrix(found["t"], (3,), "t", where)
    camera = Calibrated(width, height, _rotation(found["R"], where), translation, lens, name)
    return _facing_the_ground(camera, where)


def _facing_the_ground(camera: Calibrated, where: str) -> Calibrated:
    """The camera, with -R and -t if only these put the ground in the middle of its lower edge before it.

    Both project to the same pixels, so that calibrations whose depth is negative go unnoticed in OpenCV.
    """
    pixel = np.array([camera.width / 2, float(camera.height)])
    turned = replace(camera, rotation=-camera.rotation, translation=-camera.translation)
    if np.isfinite(camera.to_ground(pixel)).all() or not np.isfinite(turned.to_ground(pixel)).all():
        return camera
    warnings.warn(
        f"{where} puts the ground behind the camera: the signs of R and t were changed",
        CalibrationWarning,
        stacklevel=2,
    )
    return turned


def _image_size(found: Mapping[str, Any], where: str) -> Size:
    if "width" not in found or "height" not in found:
        raise FileFormatError(f"{where} lacks width and height of the image; give them there or as size")
    return int(np.squeeze(found["width"])), int(np.squeeze(found["height"]))


def _rotation(value: Any, where: str) -> Floats:
    """(3, 3) rotation from a matrix, or from a vector by Rodrigues' formula."""
    is_vector = np.asarray(value, np.float64).size == 3
    matrix = _matrix(value, (3,) if is_vector else (3, 3), "R", where)
    rotation = _rodrigues(matrix) if is_vector else matrix
    if not np.allclose(rotation @ rotation.T, np.eye(3), atol=ROTATION_TOLERANCE):
        raise FileFormatError(f"{where}: R is not a rotation")
    return rotation


@dataclass(frozen=True)
class _TsaiFile:
    """The numbers of a Tsai XML file, in millimetres and pixels."""

    path: Path
    root: Element

    def number(self, section: str, key: str) -> float:
        element = self.root.find(section)
        text = None if element is None else element.get(key)
        try:
            value = float(text or "")
        except ValueError:
            value = np.nan
        if not np.isfinite(value):
            raise FileFormatError(f"{self.path}: {section} must have a number {key!r}, got {text!r}")
        return value

    def numbers(self, section: str, *keys: str) -> list[float]:
        return [self.number(section, key) for key in keys]


def _tsai_camera(file: _TsaiFile, unit: float) -> Calibrated:
    rotation = _euler(*file.numbers("Extrinsic", "rx", "ry", "rz"))
    focal, kappa, cx, cy, sx = file.numbers("Intrinsic", "focal", "kappa1", "cx", "cy", "sx")
    if sx == 0:
        raise FileFormatError(f"{file.path}: sx of Intrinsic must not be zero")
    dpx, dpy, width, height = file.numbers("Geometry", "dpx", "dpy", "width", "height")
    return Calibrated(
        width=int(width),
        height=int(height),
        rotation=rotation,
        translation=unit * np.array(file.numbers("Extrinsic", "tx", "ty", "tz")),
        lens=TsaiLens(focal=focal, kappa=kappa, centre=(cx, cy), pixel=(dpx / sx, dpy)),
        name=file.root.get("name") or file.path.stem,
    )


def _contents(path: Path) -> Mapping[str, Any]:
    """The named arrays of a file."""
    suffix = path.suffix.lower()
    if suffix == ".npz":
        return _npy.read_npz(path, "is not a calibration", largest=MAX_DOCUMENT)
    if suffix == ".json":
        content = read_json(path)
        is_opencv = any(isinstance(value, dict) for value in content.values())
        return read_storage(path) if is_opencv else content
    if suffix in (".yaml", ".yml", ".xml"):
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
    """The rotation Rz Ry Rx."""
    (cx, cy, cz), (sx, sy, sz) = np.cos([x, y, z]), np.sin([x, y, z])
    return np.array(
        [
            [cy * cz, cz * sx * sy - cx * sz, sx * sz + cx * cz * sy],
            [cy * sz, sx * sy * sz + cx * cz, cx * sy * sz - cz * sx],
            [-sy, cy * sx, cx * cy],
        ]
    )


def _rodrigues(vector: Floats) -> Floats:
    """The rotation about ``vector`` (3,) by its length: I + sin(a) K + (1 - cos(a)) K^2."""
    angle = float(np.linalg.norm(vector))
    if angle == 0.0:
        return np.eye(3)
    x, y, z = vector / angle
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.asarray(np.eye(3) + np.sin(angle) * cross + (1 - np.cos(angle)) * cross @ cross)
