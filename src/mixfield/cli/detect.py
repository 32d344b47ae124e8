"""``mixfield detect``: people on the ground plane, frame by frame."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mixfield.cli import batching
from mixfield.cli.options import Json, Threads
from mixfield.cli.terminal import console

if TYPE_CHECKING:
    from mixfield.io.detection_run import DetectionTask


@dataclass(frozen=True)
class _Drawn:
    """The work on one frame, with a picture of every n-th."""

    detected: DetectionTask
    pictures: int
    threads: int | None

    def __call__(self, frame: int, folder: Path) -> dict[str, Any]:
        import mixfield as mf

        threads = {} if self.threads is None else {"threads": self.threads}
        solver = mf.Solver(tolerance=1e-4, max_iterations=300, **threads)  # here, for the threads of this worker
        facts = replace(self.detected, solver=solver)(frame, folder)
        if self.pictures and frame % self.pictures == 0:
            self._draw(frame, folder)
        return facts

    def _draw(self, frame: int, folder: Path) -> None:
        import mixfield as mf
        from mixfield.io import opencv
        from mixfield.reports.overlay import overlay

        (file,) = folder.glob("*.npz")
        picture = overlay(mf.load(file), self.detected.scene, self.detected.footage.pictures(frame))
        opencv.write_image(file.with_suffix(".png"), picture)


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
    engine: batching.Engine = "",
    workers: batching.Workers = None,
    scheduler: batching.Scheduler = "",
    as_json: Json = False,
) -> None:
    """Locate people on the ground plane: several explanations of each frame, with their probabilities."""
    if init:
        _init(scene, init, as_json)
        return
    import mixfield as mf
    from mixfield.apps.detection import CRITERIA
    from mixfield.errors import MixfieldError
    from mixfield.io.detection_run import DetectionRun, DetectionTask
    from mixfield.io.mot import write_mot
    from mixfield.io.scene_file import read_footage

    if criterion not in CRITERIA:
        raise MixfieldError(f"criterion must be one of {', '.join(CRITERIA)}, got {criterion!r}")
    room, footage = mf.read_scene(scene.absolute()), read_footage(scene.absolute())
    chosen = _frames(frames, lambda: len(footage))
    notes = [
        f"{scene}: camera {view.name or number} sees no cell of the ground: check its calibration, or leave it out"
        for number, view in enumerate(room.views)
        if not view.visible.any()
    ]
    run = DetectionRun(out, room, modes, criterion)
    work = _Drawn(DetectionTask(room, footage, modes, criterion), pictures, threads)
    started = time.perf_counter()
    outcomes = run.outcomes(work, footage, chosen, engine=batching.engine(engine, workers, scheduler))
    results = batching.follow(outcomes, "frames", len(chosen), quiet=as_json)
    seconds = time.perf_counter() - started
    found = {frame: results.facts[str(frame)]["people"] for frame in chosen if str(frame) in results.facts}
    write_mot(out / "detections.txt", found, room)
    new = results.tally.done
    facts = {
        "frames": len(chosen),
        "computed": new,
        "seconds": seconds,
        "folder": str(out),
        "people": {str(frame): [[round(x, 3), round(y, 3)] for x, y in people] for frame, people in found.items()},
        "failures": results.failures,
        "notes": notes,
    }
    if as_json:
        typer.echo(json.dumps(facts))
        results.conclude(quiet=True)
        return
    for note in notes:
        typer.echo(note, err=True)
    results.check()
    people = sum(len(p) for p in found.values()) / max(len(found), 1)
    screen = console()
    screen.print(f"{len(chosen)} frames, {new} of them new, {seconds:.1f} s; {people:.1f} people per frame")
    typer.echo(f"posteriors: {out}/frame_*.npz   heaviest modes: {out}/detections.txt")
    if any(out.glob("frame_*.png")):
        typer.echo(f"pictures:   {out}/frame_*.png" + (" (of new frames)" if pictures and new < len(chosen) else ""))
    results.conclude(quiet=False)


def _init(path: Path, calibrations: list[Path], as_json: bool) -> None:
    """Write a scene file whose area is the ground that the cameras see."""
    from mixfield.errors import MixfieldError
    from mixfield.io.calibration import read_camera
    from mixfield.io.scene_file import visible_area, write_scene

    if path.exists():
        raise MixfieldError(f"{path} exists already; remove it first, or choose another name")
    write_scene(path, calibrations, visible_area([read_camera(file) for file in calibrations]))
    said = f"wrote {path}: check the area, and say where footage or masks are"
    typer.echo(json.dumps({"scene": str(path)}) if as_json else said)


def _frames(text: str, count: Any) -> list[int]:
    from mixfield.errors import MixfieldError

    try:
        parts = [int(part) if part else None for part in text.split(":")] if text else [None, None]
        if len(parts) not in (2, 3):
            raise ValueError
    except ValueError:
        raise MixfieldError(f"frames must look like 0:400 or 0:400:10, got {text!r}") from None
    first, last, step = parts[0] or 0, parts[1], 1 if len(parts) < 3 or parts[2] is None else parts[2]
    if first < 0 or step < 1 or (last is not None and last < 0):
        raise MixfieldError(f"frames must be numbers from 0 on with a step of 1 or more, got {text!r}")
    chosen = list(range(first, count() if last is None else last, step))
    if not chosen:
        raise MixfieldError(f"there are no frames {text or ':'}; the recording has {count()} frames")
    return chosen
