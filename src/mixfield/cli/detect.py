"""``mixfield detect``: people on the ground plane, frame by frame."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Annotated, Any

import typer

from mixfield.cli.options import Json, Threads
from mixfield.cli.terminal import Progress, console


def detect(
    scene: Annotated[Path, typer.Argument(help="A scene.toml, or a .pom file.")],
    frames: Annotated[str, typer.Option(help="first:last (exclusive) or first:last:step.  [default: all]")] = "",
    modes: Annotated[int, typer.Option(min=1, help="How many modes to look for in each frame.")] = 4,
    out: Annotated[Path, typer.Option(help="Folder for posteriors and pictures; a stopped run goes on there.")] = Path(
        "modes"
    ),
    criterion: Annotated[str, typer.Option(help="field (ours), neighbourhood or paper.")] = "field",
    pictures: Annotated[int, typer.Option(min=0, help="A picture of every n-th frame; 0 for none.")] = 1,
    init: Annotated[
        list[Path] | None, typer.Option(help="Write the scene file from these calibrations, one per camera, and stop.")
    ] = None,
    threads: Threads = None,
    as_json: Json = False,
) -> None:
    """Locate people on the ground plane: several explanations of each frame, with their probabilities."""
    if init:
        _init(scene, init)
        return
    import mixfield as mf
    from mixfield.apps.detection import positions
    from mixfield.io.detection_run import DetectionRun
    from mixfield.io.mot import write_mot
    from mixfield.io.scene_file import read_footage

    room, footage = mf.read_scene(scene), read_footage(scene)
    chosen = _frames(frames, lambda: len(footage))
    run = DetectionRun(out, room, modes, criterion)
    run.prepare()
    solver = mf.Solver(tolerance=1e-4, max_iterations=300) if threads is None else mf.Solver(1e-4, 300, threads)
    missing = run.missing(chosen)
    started = time.perf_counter()
    with Progress("frames", len(missing), quiet=as_json) as advance:
        for done, frame in enumerate(run.run(footage, missing, solver=solver), 1):
            if pictures and frame % pictures == 0:
                _draw(run, footage, frame)
            advance(done)
    seconds = time.perf_counter() - started
    found = {frame: positions(posterior.modes[0], room) for frame, posterior in run.load(chosen).items()}
    write_mot(out / "detections.txt", found, room)
    facts = {
        "frames": len(chosen),
        "computed": len(missing),
        "seconds": seconds,
        "folder": str(out),
        "people": {str(frame): people.round(3).tolist() for frame, people in found.items()},
    }
    if as_json:
        typer.echo(json.dumps(facts))
        return
    people = sum(len(p) for p in found.values()) / max(len(found), 1)
    screen = console()
    screen.print(f"{len(chosen)} frames, {len(missing)} of them new, {seconds:.1f} s; {people:.1f} people per frame")
    screen.print(f"posteriors: {out}/frame_*.npz   heaviest modes: {out}/detections.txt", highlight=False)
    if pictures:
        screen.print(f"pictures:   {out}/frame_*.png", highlight=False)


def _init(path: Path, calibrations: list[Path]) -> None:
    """Write a scene file whose area is the ground that the cameras see."""
    from mixfield.errors import MixfieldError
    from mixfield.io.calibration import read_camera
    from mixfield.io.scene_file import visible_area, write_scene

    if path.exists():
        raise MixfieldError(f"{path} exists already; remove it first, or choose another name")
    write_scene(path, calibrations, visible_area([read_camera(file) for file in calibrations]))
    typer.echo(f"wrote {path}: check the area, and say where footage or masks are")


def _frames(text: str, count: Any) -> list[int]:
    from mixfield.errors import MixfieldError

    try:
        parts = [int(part) if part else None for part in text.split(":")] if text else [None, None]
        if len(parts) not in (2, 3):
            raise ValueError
    except ValueError:
        raise MixfieldError(f"frames must look like 0:400 or 0:400:10, got {text!r}") from None
    first, last = parts[0] or 0, parts[1]
    chosen = list(range(first, count() if last is None else last, parts[2] if len(parts) == 3 and parts[2] else 1))
    if not chosen:
        raise MixfieldError(f"there are no frames {text or ':'}; the recording has {count()} frames")
    return chosen


def _draw(run: Any, footage: Any, frame: int) -> None:
    from mixfield.io import opencv
    from mixfield.report.overlay import overlay

    (posterior,) = run.load([frame]).values()
    opencv.write_image(run.path(frame).with_suffix(".png"), overlay(posterior, run.scene, footage.pictures(frame)))
