"""A first scene file from calibrations, for ``mixfield detect --init``."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mixfield.cli.terminal import say

if TYPE_CHECKING:
    from mixfield.io.camera_folder import CalibrationFiles
    from mixfield.scene.camera import Camera

Unit = Annotated[str, typer.Option(help="With --init: m, cm or mm of the calibrations.  [default: guessed, and said]")]


def write_first_scene(path: Path, calibrations: list[Path], unit: str, *, as_json: bool) -> None:
    """Write a scene file whose area is the ground that the cameras see.

    Parameters
    ----------
    path : of the scene file.
    calibrations : one file per camera, or a folder such as WILDTRACK's.
    unit : m, cm or mm; empty if it is to be guessed from the heights of the cameras.
    as_json : print JSON.
    """
    from mixfield.errors import MixfieldError
    from mixfield.io.calibration_unit import UNITS
    from mixfield.io.scene_file import visible_area, write_scene

    if path.exists():
        raise MixfieldError(f"{path} exists already; remove it first, or choose another name")
    if unit and unit not in UNITS:
        raise MixfieldError(f"--unit must be one of {', '.join(UNITS)}, got {unit!r}")
    files = [one for given in calibrations for one in _files(given)]
    units = [UNITS[unit] if unit else one.guessed_unit() for one in files]
    cameras, notes = _read(files, units)
    notes = [*(_unit_notes(files, units) if not unit else []), *notes]
    area = visible_area(cameras)
    write_scene(path, files, area, units=units)
    if as_json:
        typer.echo(json.dumps({"scene": str(path), "area": area, "units": units, "notes": notes}))
        return
    width, depth = area[2] - area[0], area[3] - area[1]
    say(*notes, f"wrote {path}: an area of {width:g} x {depth:g} m; check it, and say where footage or masks are")


def _files(given: Path) -> list[CalibrationFiles]:
    """The calibrations of a folder, or a single one."""
    from mixfield.io.camera_folder import CalibrationFiles, find_calibrations

    return find_calibrations(given) if given.is_dir() else [CalibrationFiles(given.stem, given)]


def _read(files: list[CalibrationFiles], units: list[float | None]) -> tuple[list[Camera], list[str]]:
    """The cameras, and what was corrected in them."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        cameras = [one.read(unit=unit, size=one.default_size) for one, unit in zip(files, units, strict=True)]
    return cameras, [str(one.message) for one in caught]


def _unit_notes(files: list[CalibrationFiles], units: list[float | None]) -> list[str]:
    from mixfield.io.calibration_unit import unit_name

    return [
        f"{one.extrinsics or one.calibration} seems to be in {unit_name(guess)}: unit = {guess:g} was written; "
        "--unit gives another"
        for one, guess in zip(files, units, strict=True)
        if guess is not None
    ]
