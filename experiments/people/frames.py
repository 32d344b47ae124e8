"""Modes and mean fields of the frames of a recording."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from experiments.people.moda import Detections
from experiments.people.pets import Pets
from experiments.quiet import ignore_warnings
from mixfield import Tracks, batch
from mixfield.energy import Occupancy
from mixfield.errors import MixfieldError
from mixfield.io.detection_run import DetectionTask, load_posteriors
from mixfield.mixture import MixturePosterior
from mixfield.scene import Scene
from mixfield.solvers import Mode, mean_field

Progress = Callable[[str], None]


def frame_modes(
    recording: Pets, frames: Sequence[int], folder: Path, progress: Progress
) -> dict[int, MixturePosterior]:
    """The modes of each frame; those that are in ``folder`` are loaded, the others are computed and saved there."""
    task = DetectionTask(recording.scene(), recording.footage())
    for outcome in batch.map(task, task.items(frames), folder, settings=task.settings()):
        if outcome.failure is not None:
            raise MixfieldError(outcome.failure)
        progress(f"PETS {recording.views}: modes of frame {outcome.name}")
    return load_posteriors(folder, frames)


def frame_mean_fields(recording: Pets, frames: Sequence[int]) -> dict[int, Mode]:
    """The mean field of each frame."""
    scene, footage = recording.scene(), recording.footage()
    return {frame: occupancy_mean_field(scene, footage.masks(frame)) for frame in frames}


def tracked(tracks: Tracks, scene: Scene, frames: Sequence[int]) -> Detections:
    """Positions of tracks in the area of interest, by frame number."""
    table = tracks.table[scene.interest[tracks.table["row"], tracks.table["column"]]]
    places = np.stack([table["x"], table["y"]], axis=-1)
    return {frame: places[table["frame"] == t] for t, frame in enumerate(frames)}


def occupancy_mean_field(scene: Scene, masks: Any) -> Mode:
    """The mean field of one frame."""
    with ignore_warnings():
        return mean_field(Occupancy(scene, masks))
