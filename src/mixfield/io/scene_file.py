"""``scene.toml``: cameras, ground and footage in one file; paths are relative to it, lengths in metres.

    area = [-14.07, -14.27, 4.98, 1.73]   # x_min, y_min, x_max, y_max of interest
    cell = 0.25                           # optional, as everything up to [[camera]]
    margin = 3.0
    density = 0.04                        # people per square metre
    background = "MOG2"                   # or "KNN"
    frame_rate = 25.0                     # frames per second, if not that of the video
    person = { height = 1.75, width = 0.5 }  # and heights = [1.6, 1.75, 1.9] if people have one of several

    [[camera]]
    calibration = "View_001.xml"          # or ground_points and image_points (four or more), and size = [768, 576]
    extrinsics = "extr.xml"               # if R and t are in a second file
    unit = 0.001                          # metres per unit of the calibration, if not the default
    footage = "vtest.avi"                 # a video, or images such as "frames/{frame:04d}.jpg"
    hidden = "sign.png"                   # white where something that never moves hides people
    masks = "masks/{frame:04d}.png"       # without them masks are computed from the footage

Instead of cameras with calibrations, ``pom = "room.pom"`` takes the rectangles of a POM file; ``rows``, ``columns``,
``cell`` and ``origin`` then give the ground of its locations.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mixfield import _arrays, _files
from mixfield.apps.heights import with_heights
from mixfield.errors import FileFormatError, MixfieldError
from mixfield.io import calibration, opencv
from mixfield.io.calibration_unit import visible_ground
from mixfield.io.camera_folder import CalibrationFiles
from mixfield.io.documents import read_toml
from mixfield.io.footage import CameraFootage, Footage
from mixfield.io.frame_source import ImageSequence, open_frames
from mixfield.io.pom_parser import PomFile, parse_pom
from mixfield.scene.camera import Camera, FromHomography, Person
from mixfield.scene.ground import Ground
from mixfield.scene.scene import Scene

StrPath = str | os.PathLike[str]
Table = dict[str, Any]

_FOOTAGE_KEYS = {"background", "frame_rate", "camera"}
_SCENE_KEYS = {"area", "cell", "margin", "density", "person", "variance", "reduction", "form"} | _FOOTAGE_KEYS
_POM_KEYS = {"pom", "rows", "columns", "cell", "origin"} | _FOOTAGE_KEYS
_SEVERAL_KEYS = ("heights", "shares")  # of with_heights
_PERSON_KEYS = {"height", "width", *_SEVERAL_KEYS}
_CALIBRATION_KEYS = {"calibration", "extrinsics", "unit", "size", "ground_points", "image_points"}
_CAMERA_KEYS = {"name", "footage", "masks", "hidden"} | _CALIBRATION_KEYS
_OPTIONS = ("cell", "margin", "density", "variance", "reduction", "form")  # of Scene.from_cameras

HALF_WHITE = 128  # grey value from which on a pixel of a ``hidden`` image is hidden
MAX_DISTANCE = 30.0  # metres from the centre of a view, for `visible_area`
HEADER = """area = [{area}]  # x_min, y_min, x_max, y_max of interest, in metres
cell = 0.25
margin = 3.0
density = 0.04  # people per square metre
person = {{ height = 1.75, width = 0.5 }}
background = "MOG2"  # or "KNN"
"""
NO_FOOTAGE = 'footage = "REPLACE.avi"  # a video, or images such as "frames/{frame:04d}.jpg"; or masks = "..."'


def read_scene(path: StrPath) -> Scene:
    """Read the scene of a ``scene.toml`` or ``.pom`` file."""
    if Path(path).suffix == ".pom":
        return parse_pom(path).scene()
    table, folder = read_toml(path), Path(path).parent
    try:
        return _pom_scene(table, folder, path) if "pom" in table else _camera_scene(table, folder, path)
    except FileFormatError:
        raise
    except (TypeError, ValueError, LookupError, AttributeError, ArithmeticError) as error:
        raise FileFormatError(f"{path}: {error}") from None


def read_footage(path: StrPath) -> Footage:
    """Read which pictures and masks a ``scene.toml`` or ``.pom`` file names."""
    if Path(path).suffix == ".pom":
        pom = parse_pom(path)
        return Footage(tuple(CameraFootage(None, _pom_masks(pom, c)) for c in range(len(pom.sizes))))
    table, folder = read_toml(path), Path(path).parent
    entries = _cameras(table, path)
    rate = _frame_rate(table, path)
    if not entries and "pom" in table:
        return Footage(read_footage(_pom_path(table, folder, path)).cameras, rate)
    method = str(table.get("background", "MOG2"))
    cameras = (_camera_footage(entry, folder, method, f"{path}: camera {k}") for k, entry in enumerate(entries))
    return Footage(tuple(cameras), rate)


def _frame_rate(table: Table, path: StrPath) -> float | None:
    if "frame_rate" not in table:
        return None
    try:
        return _arrays.positive("frame_rate", table["frame_rate"])
    except MixfieldError as error:
        raise FileFormatError(f"{path}: {error}") from None


def write_scene(
    path: StrPath,
    calibrations: Sequence[StrPath | CalibrationFiles],
    area: Sequence[float],
    *,
    footage: Sequence[str] = (),
    units: Sequence[float | None] = (),
) -> None:
    """Write a ``scene.toml``.

    Parameters
    ----------
    path : the file.
    calibrations : of each camera one file, or the files of `find_calibrations`.
    area : x_min, y_min, x_max, y_max of interest in metres.
    footage : of each camera; where it is missing, the file has a comment that asks for it.
    units : metres per unit of each calibration; None for the default of its format.
    """
    folder = Path(path).parent.resolve()
    lines = [HEADER.format(area=", ".join(f"{value:.6g}" for value in area))]
    for c, file in enumerate(calibrations):
        name = footage[c] if c < len(footage) else ""
        lines += ["[[camera]]", *_calibration_lines(file, folder)]
        unit = units[c] if c < len(units) else None
        lines += [] if unit is None else [f"unit = {unit:g}  # metres per unit of the calibration"]
        lines += [f"footage = {_quoted(name)}" if name else NO_FOOTAGE, ""]
    _files.write_text(path, "\n".join(lines))


def _calibration_lines(file: StrPath | CalibrationFiles, folder: Path) -> list[str]:
    """The keys of the calibration of a camera; paths are relative to the folder of the scene file."""

    def relative(path: StrPath) -> str:
        return _quoted(os.path.relpath(Path(path).resolve(), folder))

    if not isinstance(file, CalibrationFiles):
        return [f"calibration = {relative(file)}"]
    lines = [f"name = {_quoted(file.name)}", f"calibration = {relative(file.calibration)}"]
    lines += [] if file.extrinsics is None else [f"extrinsics = {relative(file.extrinsics)}"]
    size = file.default_size
    return lines if size is None else [*lines, f"size = [{size[0]}, {size[1]}]  # pixels; not in the calibration"]


def visible_area(cameras: Sequence[Camera]) -> tuple[float, float, float, float]:
    """x_min, y_min, x_max, y_max of the ground in the middle of the pictures, a first guess of the area of interest."""
    points = np.concatenate([np.empty((0, 2)), *map(_visible_points, cameras)])
    if len(points) == 0:
        raise MixfieldError("the cameras see no ground: check the calibrations and their unit")
    (left, bottom), (right, top) = np.floor(points.min(0)), np.ceil(points.max(0))
    return float(left), float(bottom), float(right), float(top)


def _visible_points(camera: Camera) -> NDArray[np.float64]:
    """(k, 2) ground points of a grid of pixels, at most `MAX_DISTANCE` from their median."""
    points = visible_ground(camera, 0.4)
    if len(points) == 0:
        return points
    return np.asarray(points[np.linalg.norm(points - np.median(points, axis=0), axis=-1) < MAX_DISTANCE])


def _quoted(text: str) -> str:
    """A TOML string."""
    return json.dumps(text, ensure_ascii=False)


def _check_keys(table: Table, known: set[str], where: str) -> None:
    unknown = sorted(set(table) - known)
    if unknown:
        raise FileFormatError(f"{where}: unknown key {unknown[0]!r}; known are {', '.join(sorted(known))}")


def _cameras(table: Table, path: StrPath) -> list[Table]:
    """The entries [[camera]] with the types of their strings checked."""
    entries = table.get("camera", [])
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise FileFormatError(f"{path}: each camera is a table that begins with [[camera]]")
    for c, entry in enumerate(entries):
        for key in ("name", "calibration", "extrinsics", "footage", "masks", "hidden"):
            if not isinstance(entry.get(key, ""), str):
                raise FileFormatError(f"{path}: {key} of camera {c} must be a text, got {entry[key]!r}")
    return entries


def _camera_scene(table: Table, folder: Path, path: StrPath) -> Scene:
    _check_keys(table, _SCENE_KEYS, str(path))
    if "area" not in table or len(table["area"]) != 4:
        raise FileFormatError(f"{path} must give area = [x_min, y_min, x_max, y_max] in metres")
    _check_keys(table.get("person", {}), _PERSON_KEYS, f"{path}, person")
    given = dict(table.get("person", {}))
    several = {key: given.pop(key) for key in _SEVERAL_KEYS if key in given}
    if several and "heights" not in several:
        raise FileFormatError(f"{path}, person: shares need heights")
    person = Person(**given)
    options = {key: table[key] for key in _OPTIONS if key in table}
    cameras = list(_calibrated_cameras(table, folder, path))
    observed = [_observed(entry, folder) for entry in _cameras(table, path)]
    scene = Scene.from_cameras(cameras, tuple(table["area"]), person=person, observed=observed, **options)
    return with_heights(scene, **several, person=person) if several else scene


def _observed(entry: Table, folder: Path) -> NDArray[np.bool_] | None:
    """Where a camera sees people: the dark pixels of its ``hidden`` image."""
    if "hidden" not in entry:
        return None
    image = opencv.read_image(folder / entry["hidden"])
    return np.asarray(image.reshape(*image.shape[:2], -1).max(-1) < HALF_WHITE)


def _calibrated_cameras(table: Table, folder: Path, path: StrPath) -> Iterator[Camera]:
    entries = _cameras(table, path)
    if not entries:
        raise FileFormatError(f"{path} has no [[camera]]")
    for c, entry in enumerate(entries):
        yield _camera(entry, folder, f"{path}, camera {c}")


def _camera(entry: Table, folder: Path, where: str) -> Camera:
    _check_keys(entry, _CAMERA_KEYS, where)
    size = tuple(entry["size"]) if "size" in entry else None
    if "calibration" in entry:
        second = folder / entry["extrinsics"] if "extrinsics" in entry else None
        files = folder / entry["calibration"]
        return calibration.read_camera(
            files, extrinsics=second, unit=entry.get("unit"), size=size, name=entry.get("name")
        )
    if "ground_points" in entry and "image_points" in entry and size is not None:
        points = entry["ground_points"], entry["image_points"]
        return FromHomography.through(*points, width=size[0], height=size[1], name=entry.get("name", ""))
    raise FileFormatError(f"{where} needs a calibration, or ground_points, image_points and size")


def _camera_footage(entry: Table, folder: Path, method: str, where: str) -> CameraFootage:
    if "footage" not in entry and "masks" not in entry:
        raise FileFormatError(f"{where} names neither footage nor masks")
    pictures, masks = (open_frames(folder, entry[key]) if key in entry else None for key in ("footage", "masks"))
    return CameraFootage(pictures, masks, method)


def _pom_path(table: Table, folder: Path, path: StrPath) -> Path:
    if not isinstance(table["pom"], str) or not table["pom"].endswith(".pom"):
        raise FileFormatError(f"{path}: pom must name a .pom file, got {table['pom']!r}")
    return folder / table["pom"]


def _pom_scene(table: Table, folder: Path, path: StrPath) -> Scene:
    _check_keys(table, _POM_KEYS, str(path))
    sizes = [tuple(entry["size"]) for entry in _cameras(table, path) if "size" in entry] or None
    pom = parse_pom(_pom_path(table, folder, path))
    if "rows" not in table or "columns" not in table:
        return pom.scene(sizes=sizes)
    x, y = tuple(table.get("origin", (0.0, 0.0)))[:2]
    return pom.scene(Ground((table["rows"], table["columns"]), float(table.get("cell", 1.0)), (x, y)), sizes)


def _pom_masks(pom: PomFile, camera: int) -> ImageSequence:
    pattern = pom.patterns.get("INPUT_VIEW_FORMAT")
    if pattern is None:
        raise FileFormatError(f"{pom.path} names no masks: it has no INPUT_VIEW_FORMAT line")
    escaped = pattern.replace("{", "{{").replace("}", "}}")
    return ImageSequence(pom.path.parent, escaped.replace("%c", str(camera)).replace("%f", "{frame}"))
