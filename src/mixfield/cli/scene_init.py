"""A first scene file from calibrations, for ``mixfield detect --init``."""

from __future__ import annotations

import json
from pathlib import Path

import typer

from mixfield.cli.terminal import say


def write_first_scene(path: Path, calibrations: list[Path], unit: str, *, as_json: bool) -> None:
    """Write a scene file whose area is the ground that the cameras see.

    Parameters
    ----------
    path : of the scene file.
    calibrations : one file per camera.
    unit : m, cm or mm; empty if it is to be guessed from the heights of the cameras.
    as_json : print JSON.
    """
    from mixfield.errors import MixfieldError
    from mixfield.io.calibration import read_camera
    from mixfield.io.calibration_unit import UNITS, guessed_unit, unit_name
    from mixfield.io.scene_file import visible_area, write_scene

    if path.exists():
        raise MixfieldError(f"{path} exists already; remove it first, or choose another name")
    if unit and unit not in UNITS:
        raise MixfieldError(f"--unit must be one of {', '.join(UNITS)}, got {unit!r}")
    units = [UNITS[unit] if unit else guessed_unit(file) for file in calibrations]
    notes = [
        f"{file} seems to be in {unit_name(guess)}: unit = {guess:g} was written; --unit gives another"
        for file, guess in zip(calibrations, units, strict=True)
        if guess is not None and not unit
    ]
    area = visible_area([read_camera(file, unit=one) for file, one in zip(calibrations, units, strict=True)])
    write_scene(path, calibrations, area, units=units)
    if as_json:
        typer.echo(json.dumps({"scene": str(path), "area": area, "units": units, "notes": notes}))
        return
    width, depth = area[2] - area[0], area[3] - area[1]
    say(*notes, f"wrote {path}: an area of {width:g} x {depth:g} m; check it, and say where footage or masks are")
