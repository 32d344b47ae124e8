"""MODA of mean field, modes and trivial variants on PETS 2009."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from experiments.people.frames import Progress, frame_mean_fields, frame_modes, occupancy_mean_field
from experiments.people.moda import Detections, moda_curve
from experiments.people.pets import Pets
from experiments.quiet import ignore_warnings
from mixfield import detect, positions
from mixfield.mixture import MixturePosterior
from mixfield.scene import Scene
from mixfield.solvers import Mode

TIMED = 20  # one in so many frames is solved again to measure its time


def pets_curves(recording: Pets, frames: Sequence[int], folder: Path, progress: Progress) -> dict[str, Any]:
    """MODA of each method at each threshold, with bootstrap intervals; posteriors are saved in ``folder``."""
    scene, truth = recording.scene(), recording.truth(frames)
    posteriors, single = frame_modes(recording, frames, folder, progress), frame_mean_fields(recording, frames)
    methods = {
        "mean field": [detections(single, scene)],
        "best of 4 modes": mode_detections(posteriors, scene),
        "control": trivial_variants(single, scene),
        "heaviest mode": mode_detections(posteriors, scene)[:1],
        "mean field, one per person": [detections(single, scene, one_per_person=True)],
        "best of 4 modes, one per person": mode_detections(posteriors, scene, one_per_person=True),
    }
    return {
        "views": list(recording.views),
        "frames": [min(frames), max(frames), len(frames)],
        "median_seconds": _median_seconds(recording, frames[::TIMED]),
        "curves": {name: moda_curve(truth, candidates) for name, candidates in methods.items()},
    }


def modes_of(scene: Scene, masks: Any, criterion: str) -> MixturePosterior:
    """The modes of one frame, with one of the criteria of `mixfield.detect`."""
    with ignore_warnings():
        return detect(scene, masks, criterion=criterion)


def _median_seconds(recording: Pets, frames: Sequence[int]) -> dict[str, float]:
    """Processor seconds per frame."""
    scene, footage = recording.scene(), recording.footage()
    times = []
    for frame in frames:
        masks = footage.masks(frame)
        started = time.process_time()
        occupancy_mean_field(scene, masks)
        between = time.process_time()
        modes_of(scene, masks, "field")
        times.append((between - started, time.process_time() - between))
    return dict(zip(("mean field", "modes"), np.median(times, axis=0).tolist(), strict=True))


def detections(modes: dict[int, Mode], scene: Scene, **options: Any) -> Detections:
    return {frame: positions(mode, scene, **options) for frame, mode in modes.items()}


def mode_detections(posteriors: dict[int, MixturePosterior], scene: Scene, **options: Any) -> list[Detections]:
    """The detections of the first, second, ... mode of every frame; a frame with fewer modes repeats its last."""
    count = max(len(posterior.modes) for posterior in posteriors.values())
    return [
        detections({frame: p.modes[min(k, len(p.modes) - 1)] for frame, p in posteriors.items()}, scene, **options)
        for k in range(count)
    ]


def trivial_variants(modes: dict[int, Mode], scene: Scene) -> list[Detections]:
    """Mean field; with another threshold; with one person dropped at random; with all positions jittered."""
    rng = np.random.default_rng(0)
    found = detections(modes, scene)
    dropped = {f: np.delete(p, rng.integers(len(p)), 0) if len(p) else p for f, p in found.items()}
    jittered = {f: p + rng.normal(0.0, 0.25, p.shape) for f, p in found.items()}
    return [found, detections(modes, scene, threshold=0.2), dropped, jittered]
