"""``mixfield detect``: people on the ground plane, frame by frame."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mixfield.cli import batching
from mixfield.cli.detect_masks import mask_notes, mask_summary
from mixfield.cli.options import Json, Threads, check_folder, frame_slice, solver
from mixfield.cli.scene_fit import FitViews, LearnOccluders, fit_facts, fit_scene, fit_summary
from mixfield.cli.scene_init import Unit, write_first_scene
from mixfield.cli.terminal import command, say

if TYPE_CHECKING:
    from mixfield.io.detection_run import DetectionTask
    from mixfield.scene.scene import Scene


def detect(
    scene: Annotated[Path, typer.Argument(help="A scene.toml, or a .pom file.")],
    frames: Annotated[str, typer.Option(help="first:last (exclusive) or first:last:step.  [default: all]")] = "",
    modes: Annotated[int, typer.Option(min=1, help="How many modes to look for in each frame.")] = 4,
    out: Annotated[Path, typer.Option(help="Folder for posteriors and pictures; a stopped run goes on there.")] = Path(
        "modes"
    ),
    criterion: Annotated[str, typer.Option(help="field (ours), neighbourhood or paper.")] = "field",
    pictures: Annotated[int, typer.Option(min=0, help="A picture of every n-th frame; 0 for none.")] = 1,
    init: Annotated[list[Path] | None, typer.Option(help="Write the scene file from calibrations; stop.")] = None,
    unit: Unit = "",
    occluders: LearnOccluders = False,
    views: FitViews = False,
    threads: Threads = None,
    engine: batching.Engine = "",
    workers: batching.Workers = None,
    scheduler: batching.Scheduler = "",
    as_json: Json = False,
) -> None:
    """Locate people on the ground plane: several explanations of each frame, with their probabilities."""
    if init:
        write_first_scene(scene, init, unit, as_json=as_json)
        return
    import mixfield as mf
    from mixfield import batch
    from mixfield.io.detection_run import DetectionTask
    from mixfield.io.mot import write_mot
    from mixfield.io.scene_file import read_footage

    _check_criterion(criterion)
    check_folder(out)
    given, footage = mf.read_scene(scene.absolute()), read_footage(scene.absolute())
    chosen = _frames(frames, lambda: len(footage))
    area = fit_scene(given, footage, occluders=occluders, views=views)
    task = DetectionTask(area, footage, modes, criterion)
    work = DetectAndDraw(task, pictures, threads)
    started = time.perf_counter()
    where = batching.engine(engine, workers, scheduler)
    outcomes = batch.map(work, task.items(chosen), out, settings=task.settings(), engine=where)
    results = batching.follow(outcomes, "frames", len(chosen), quiet=as_json)
    found = {frame: results.facts[str(frame)] for frame in chosen if str(frame) in results.facts}
    people = {frame: one["people"] for frame, one in found.items()}
    write_mot(out / "detections.txt", people, area)
    facts = {
        "frames": len(chosen),
        "computed": results.tally.done,
        "seconds": time.perf_counter() - started,
        "folder": str(out),
        "people": _rounded(people),
        "masks": mask_summary(found.values()),
        "scene": fit_facts(given, area),
        "failures": results.failures,
        "notes": [*_blind_cameras(area, scene), *mask_notes(found.values(), area, out, footage.computes_masks)],
    }
    _finish(facts, results, scene, pictures, as_json=as_json)


def _finish(facts: dict[str, Any], results: batching.Results, scene: Path, pictures: int, *, as_json: bool) -> None:
    """Print the facts, for programs or for people."""
    if as_json:
        typer.echo(json.dumps(facts))
    else:
        for note in facts["notes"]:
            typer.echo(note, err=True)
        results.check()
        _print(facts, Path(facts["folder"]), pictures)
        say(f"next: {command('mixfield', 'track', facts['folder'], '--scene', scene)}")
    results.conclude(quiet=as_json)


def _rounded(people: dict[int, Any]) -> dict[str, list[list[float]]]:
    """Positions by frame, in metres, to the millimetre."""
    return {str(frame): [[round(x, 3), round(y, 3)] for x, y in found] for frame, found in people.items()}


@dataclass(frozen=True)
class DetectAndDraw:
    """The work on one frame: the posterior, and a picture of every ``pictures``-th frame."""

    detected: DetectionTask
    pictures: int
    threads: int | None

    def __call__(self, frame: int, folder: Path) -> dict[str, Any]:
        with solver(self.threads) as how:  # made here, for the default is the number of threads of this worker
            facts = replace(self.detected, solver=how)(frame, folder)
        if self.pictures and frame % self.pictures == 0:
            self._draw(frame, folder)
        return facts

    def _draw(self, frame: int, folder: Path) -> None:
        import mixfield as mf
        from mixfield.io import opencv
        from mixfield.reports.overlay import mask_preview, overlay

        footage = self.detected.footage
        (file,) = folder.glob("*.npz")
        pictures = footage.pictures(frame)
        opencv.write_image(file.with_suffix(".png"), overlay(mf.load(file), self.detected.scene, pictures))
        if footage.computes_masks:
            preview = mask_preview(pictures, footage.masks(frame))
            opencv.write_image(folder / file.name.replace("frame_", "masks_").replace(".npz", ".png"), preview)


def _print(facts: dict[str, Any], out: Path, pictures: int) -> None:
    people, computed = facts["people"].values(), facts["computed"]
    mean = sum(map(len, people)) / max(len(people), 1)
    say(
        f"{facts['frames']} frames, {computed} of them new, {facts['seconds']:.1f} s; {mean:.1f} people per frame",
        f"posteriors: {out}/frame_*.npz   heaviest modes: {out}/detections.txt",
        *fit_summary(facts["scene"]),
    )
    if any(out.glob("frame_*.png")):
        of_new = " (of new frames)" if pictures and computed < facts["frames"] else ""
        say(f"pictures:   {out}/frame_*.png{of_new}")
    if any(out.glob("masks_*.png")):
        say(f"masks:      {out}/masks_*.png, computed from the footage")
    if facts["masks"]["blobs"]:
        say(f"{100 * facts['masks']['people_sized']:.0f} % of the blobs of the masks have the size of a person")


def _check_criterion(name: str) -> None:
    from mixfield.apps.detection import CRITERIA
    from mixfield.errors import MixfieldError

    if name not in CRITERIA:
        raise MixfieldError(f"criterion must be one of {', '.join(CRITERIA)}, got {name!r}")


def _blind_cameras(scene: Scene, path: Path) -> list[str]:
    """A note for each camera that sees no cell."""
    return [
        f"{path}: camera {view.name or number} sees no cell of the ground: check its calibration, or leave it out"
        for number, view in enumerate(scene.views)
        if not view.visible.any()
    ]


def _frames(text: str, count: Callable[[], int]) -> list[int]:
    """Frame numbers of ``--frames``; ``count`` gives the number of frames of the recording."""
    from mixfield.errors import MixfieldError

    asked = frame_slice(text)
    first, last, step = asked.start or 0, asked.stop, 1 if asked.step is None else asked.step
    if first < 0 or step < 1 or (last is not None and last < 0):
        raise MixfieldError(f"frames must be numbers from 0 on with a step of 1 or more, got {text!r}")
    frames = list(range(first, count() if last is None else last, step))
    if not frames:
        raise MixfieldError(f"there are no frames {text or ':'}; the recording has {count()} frames")
    return frames
