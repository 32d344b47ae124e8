"""``scene.toml``: cameras, ground and footage in one file; paths are relative to it, lengths in metres.

    area = [-14.07, -14.27, 4.98, 1.73]   # x_min, y_min, x_max, y_max of interest
    cell = 0.25                           # everything from here to [[camera]] may be left out
    margin = 3.0
    density = 0.04                        # people per square metre
    background = "MOG2"                   # or "KNN"
    person = { height = 1.75, width = 0.5 }

    [[camera]]
    calibration = "View_001.xml"          # or ground_points and image_points (four or more), and size = [768, 576]
    unit = 0.001                          # metres per unit of the calibration, if not its usual one
    footage = "vtest.avi"                 # a video, or images such as "frames/{frame:04d}.jpg"
    masks = "masks/{frame:04d}.png"       # ready-made; without it masks are computed from the footage

Instead of cameras with calibrations, ``pom = "room.pom"`` takes the rectangles of a POM file; ``rows`` and ``columns``
then say how its locations lie, ``origin`` where.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mixfield import _files
from mixfield.errors import FileFormatError, MixfieldError
from mixfield.io import calibration
from mixfield.io.documents import read_toml
from mixfield.io.footage import Camera, Footage, Images, pictures
from mixfield.io.pom import PomFile, parse_pom
from mixfield.scene.camera import Camera as Calibration
from mixfield.scene.camera import FromHomography, Person
from mixfield.scene.ground import Ground
from mixfield.scene.scene import Scene

StrPath = str | os.PathLike[str]

_SCENE = {"area", "cell", "margin", "density", "background", "person", "variance", "reduction", "camera"}
_POM = {"pom", "rows", "columns", "cell", "origin", "background", "camera"}
_CAMERA = {"name", "calibration", "unit", "size", "ground_points", "image_points", "footage", "masks"}


def read_scene(path: StrPath) -> Scene:
    """Read the scene of a ``scene.toml`` or ``.pom`` file."""
    if Path(path).suffix == ".pom":
        return parse_pom(path).scene()
    table, folder = read_toml(path), Path(path).parent
    try:
        if "pom" in table:
            return _pom_scene(table, folder, path)
        _check_keys(table, _SCENE, str(path))
        if "area" not in table or len(table["area"]) != 4:
            raise FileFormatError(f"{path} must give area = [x_min, y_min, x_max, y_max] in metres")
        given = {key: table[key] for key in ("cell", "margin", "density", "variance", "reduction") if key in table}
        _check_keys(table.get("person", {}), {"height", "width"}, f"{path}, person")
        person = Person(**table.get("person", {}))
        return Scene.from_cameras(_calibrations(table, folder, path), tuple(table["area"]), person=person, **given)
    except (TypeError, ValueError, LookupError, AttributeError, ArithmeticError) as error:
        if isinstance(error, FileFormatError):
            raise
        raise FileFormatError(f"{path}: {error}") from None


def read_footage(path: StrPath) -> Footage:
    """Read where a ``scene.toml`` or ``.pom`` file finds its pictures and masks."""
    if Path(path).suffix == ".pom":
        pom = parse_pom(path)
        return Footage(tuple(Camera(None, _pom_masks(pom, c)) for c in range(len(pom.sizes))))
    table, folder = read_toml(path), Path(path).parent
    cameras = []
    for number, entry in enumerate(_cameras(table, path)):
        if "footage" not in entry and "masks" not in entry:
            raise FileFormatError(f"{path}: camera {number} names neither footage nor masks")
        footage = pictures(folder, entry["footage"]) if "footage" in entry else None
        masks = pictures(folder, entry["masks"]) if "masks" in entry else None
        cameras.append(Camera(footage, masks, str(table.get("background", "MOG2"))))
    if not cameras and "pom" in table:
        return read_footage(_pom_path(table, folder, path))
    return Footage(tuple(cameras))


def write_scene(
    path: StrPath, calibrations: Sequence[StrPath], area: Sequence[float], *, footage: Sequence[str] = ()
) -> None:
    """Write a ``scene.toml`` for calibrations, one per camera, to be completed by hand where it says so."""
    folder = Path(path).parent.resolve()
    rounded = ", ".join(f"{value:.6g}" for value in area)
    lines = [
        f"area = [{rounded}]  # x_min, y_min, x_max, y_max of interest, in metres",
        "cell = 0.25",
        "margin = 3.0",
        "density = 0.04  # people per square metre",
        "person = { height = 1.75, width = 0.5 }",
        'background = "MOG2"  # or "KNN"',
    ]
    for number, file in enumerate(calibrations):
        seen = footage[number] if number < len(footage) else ""
        lines += ["", "[[camera]]", f"calibration = {_quoted(os.path.relpath(Path(file).resolve(), folder))}"]
        lines += (
            [f"footage = {_quoted(seen)}"]
            if seen
            else ['footage = "REPLACE.avi"  # a video, or images such as "frames/{frame:04d}.jpg"; or masks = "..."']
        )
    _files.write_text(path, "\n".join(lines) + "\n")


def _quoted(text: str) -> str:
    """A text as TOML writes it."""
    return json.dumps(text, ensure_ascii=False)


def visible_area(cameras: Sequence[Calibration]) -> tuple[float, float, float, float]:
    """The ground in the middle of the pictures, within 30 m: a first guess of an area of interest."""
    corners = []
    for camera in cameras:
        x, y = np.meshgrid(np.linspace(0.1, 0.9, 9) * camera.width, np.linspace(0.4, 0.95, 9) * camera.height)
        points = camera.to_ground(np.stack([x, y], axis=-1)).reshape(-1, 2)
        points = points[np.isfinite(points).all(1)]
        if len(points) == 0:
            continue
        middle = np.median(points, axis=0)
        corners.append(points[np.linalg.norm(points - middle, axis=-1) < 30.0])
    seen = np.concatenate([np.empty((0, 2)), *corners])
    if len(seen) == 0:
        raise MixfieldError("the cameras see no ground: check the calibrations and their unit")
    (left, bottom), (right, top) = np.floor(seen.min(0)), np.ceil(seen.max(0))
    return float(left), float(bottom), float(right), float(top)


def _check_keys(table: dict[str, Any], known: set[str], where: str) -> None:
    unknown = sorted(set(table) - known)
    if unknown:
        raise FileFormatError(f"{where}: unknown key {unknown[0]!r}; known are {', '.join(sorted(known))}")


def _calibrations(table: dict[str, Any], folder: Path, path: StrPath) -> list[Calibration]:
    entries = _cameras(table, path)
    if not entries:
        raise FileFormatError(f"{path} has no [[camera]]")
    return [_calibration(entry, folder, f"{path}, camera {number}") for number, entry in enumerate(entries)]


def _cameras(table: dict[str, Any], path: StrPath) -> list[dict[str, Any]]:
    """The entries [[camera]], whose texts are texts."""
    entries = table.get("camera", [])
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise FileFormatError(f"{path}: each camera is a table that begins with [[camera]]")
    for number, entry in enumerate(entries):
        for key in ("name", "calibration", "footage", "masks"):
            if not isinstance(entry.get(key, ""), str):
                raise FileFormatError(f"{path}: {key} of camera {number} must be a text, got {entry[key]!r}")
    return entries


def _pom_path(table: dict[str, Any], folder: Path, path: StrPath) -> Path:
    if not isinstance(table["pom"], str) or not table["pom"].endswith(".pom"):
        raise FileFormatError(f"{path}: pom must name a .pom file, got {table['pom']!r}")
    return folder / table["pom"]


def _calibration(entry: dict[str, Any], folder: Path, where: str) -> Calibration:
    _check_keys(entry, _CAMERA, where)
    size = tuple(entry["size"]) if "size" in entry else None
    if "calibration" in entry:
        return calibration.read_camera(folder / entry["calibration"], unit=entry.get("unit"), size=size)
    if "ground_points" in entry and "image_points" in entry and size is not None:
        points = entry["ground_points"], entry["image_points"]
        return FromHomography.through(*points, width=size[0], height=size[1], name=entry.get("name", ""))
    raise FileFormatError(f"{where} needs a calibration, or ground_points, image_points and size")


def _pom_scene(table: dict[str, Any], folder: Path, path: StrPath) -> Scene:
    _check_keys(table, _POM, str(path))
    sizes = [tuple(entry["size"]) for entry in _cameras(table, path) if "size" in entry] or None
    if "rows" not in table or "columns" not in table:
        return parse_pom(_pom_path(table, folder, path)).scene(sizes=sizes)
    origin = tuple(table.get("origin", (0.0, 0.0)))
    ground = Ground((table["rows"], table["columns"]), float(table.get("cell", 1.0)), (origin[0], origin[1]))
    return parse_pom(_pom_path(table, folder, path)).scene(ground, sizes)


def _pom_masks(pom: PomFile, camera: int) -> Images:
    pattern = pom.patterns.get("INPUT_VIEW_FORMAT")
    if pattern is None:
        raise FileFormatError(f"{pom.path} names no masks: it has no INPUT_VIEW_FORMAT line")
    escaped = pattern.replace("{", "{{").replace("}", "}}")
    return Images(pom.path.parent, escaped.replace("%c", str(camera)).replace("%f", "{frame}"))
