"""Folders with the calibrations of several cameras, as of WILDTRACK and MultiviewX.

These keep intrinsics and extrinsics in folders of their own, ``calibrations/intrinsic_zero/intr_CVLab1.xml`` and
``calibrations/extrinsic/extr_CVLab1.xml``, without the size of the images.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from mixfield.errors import FileFormatError
from mixfield.io.calibration import Size, read_camera
from mixfield.io.calibration_unit import guessed_unit
from mixfield.scene.camera import Camera

StrPath = str | os.PathLike[str]

SUFFIXES = (".xml", ".yaml", ".yml", ".json", ".npz")
INTRINSICS = ("intrinsic_zero", "intrinsic", "intrinsics", "intrinsic_original")  # undistorted images come first
EXTRINSICS = ("extrinsic", "extrinsics")
SIZE = (1920, 1080)  # pixels, of both data sets
MAX_CAMERAS = 1000

_PREFIX = re.compile(r"^(intr|extr)(insic)?s?[_-]?", re.IGNORECASE)


@dataclass(frozen=True)
class CalibrationFiles:
    """The files of one camera; ``extrinsics`` is None if everything is in one."""

    name: str
    calibration: Path
    extrinsics: Path | None = None

    def read(self, *, unit: float | None = None, size: Size | None = None) -> Camera:
        """The camera, see `read_camera`."""
        return read_camera(self.calibration, extrinsics=self.extrinsics, unit=unit, size=size, name=self.name)

    def guessed_unit(self) -> float | None:
        """Metres per unit, None if the default is plausible; see `calibration_unit`."""
        return guessed_unit(self.calibration, extrinsics=self.extrinsics, size=self.default_size)

    @property
    def default_size(self) -> Size | None:
        """The size of the images of data sets with two files per camera, which do not say it."""
        return None if self.extrinsics is None else SIZE


def find_calibrations(folder: StrPath) -> list[CalibrationFiles]:
    """The calibrations in a folder or in its ``calibrations``: one file per camera, or two in folders of their own."""
    root = Path(folder)
    if not root.is_dir():
        raise FileFormatError(f"{root} is not a folder of calibrations")
    base = root / "calibrations" if (root / "calibrations").is_dir() else root
    intrinsic, extrinsic = _first(base, INTRINSICS), _first(base, EXTRINSICS)
    if intrinsic is None or extrinsic is None:
        found = [CalibrationFiles(name, file) for name, file in _files(base).items()]
    else:
        found = _paired(_files(intrinsic), _files(extrinsic), base)
    if not found or len(found) > MAX_CAMERAS:
        raise FileFormatError(
            f"{base} has {len(found)} calibrations: expected are files {', '.join(SUFFIXES)}, or folders "
            f"{INTRINSICS[1]} and {EXTRINSICS[0]} with one file per camera"
        )
    return found


def read_cameras(folder: StrPath, *, unit: float | None = None, size: Size | None = None) -> list[Camera]:
    """Read the cameras of a folder such as WILDTRACK's or MultiviewX's.

    Parameters
    ----------
    folder : of the data set, or its ``calibrations``.
    unit : metres per unit; by default guessed for each camera from its height above the ground.
    size : (width, height) of the images; by default of the files, or 1920 x 1080 where these are in two parts.
    """
    return [
        one.read(unit=one.guessed_unit() if unit is None else unit, size=one.default_size if size is None else size)
        for one in find_calibrations(folder)
    ]


def _first(base: Path, names: tuple[str, ...]) -> Path | None:
    return next((base / name for name in names if (base / name).is_dir()), None)


def _files(folder: Path) -> dict[str, Path]:
    """The calibration files of a folder by the name of their camera, in the order of these names."""
    files = sorted(path for path in folder.iterdir() if path.suffix.lower() in SUFFIXES)
    return {_PREFIX.sub("", path.stem) or path.stem: path for path in files}


def _paired(intrinsic: dict[str, Path], extrinsic: dict[str, Path], base: Path) -> list[CalibrationFiles]:
    alone = sorted(set(intrinsic) ^ set(extrinsic))
    if alone:
        raise FileFormatError(f"{base}: camera {alone[0]} has only one of intrinsics and extrinsics")
    return [CalibrationFiles(name, intrinsic[name], extrinsic[name]) for name in intrinsic]
