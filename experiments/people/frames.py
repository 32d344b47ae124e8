"""Modes and mean fields of the frames of a recording."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from experiments.people.moda import Detections
from experiments.people.pets import Pets
from experiments.quiet import ignore_warnings
from mixfield import Tracks
from mixfield.energy import Occupancy
from mixfield.io.detection_run import DetectionRun
from mixfield.mixture import MixturePosterior
from mixfield.scene import Scene
from mixfield.solvers import Mode, mean_field

Progress = Callable[[str], None]


def frame_modes(
    recording: Pets, frames: Sequence[int], folder: Path, progress: Progress
) -> dict[int, MixturePosterior]:
    """The modes of each frame; those that are in ``folder`` are loaded, the others are computed and saved there."""
    run = DetectionRun(folder, recording.scene())
    for frame in run.run(recording.footage(), frames):
        progress(f"PETS {recording.views}: modes of frame {frame}")
    return run.load(frames)


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
