"""What the pages on people share: the frames of a recording, explained, and MODA over the distance threshold."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments.pets import Pets
from mixfield import metrics
from mixfield.energy.occupancy import Occupancy
from mixfield.errors import MixfieldWarning
from mixfield.io.detection_run import DetectionRun
from mixfield.mixture.posterior import MixturePosterior
from mixfield.scene.scene import Scene
from mixfield.solvers.mean_field import Solver, mean_field
from mixfield.solvers.mode import Mode

Floats = NDArray[np.float64]
Found = dict[int, Floats]
Progress = Callable[[str], None]

THRESHOLDS = (0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 1.75, 2.0)
SOLVER = Solver(tolerance=1e-4, max_iterations=300)


def detected(recording: Pets, frames: Sequence[int], folder: Path, progress: Progress) -> dict[int, MixturePosterior]:
    """The modes of each frame, kept in ``folder`` and taken from there."""
    run = DetectionRun(folder, recording.scene())
    for frame in run.run(recording.footage(), frames, solver=SOLVER):
        progress(f"PETS {recording.views}: modes of frame {frame}")
    return run.load(frames)


def mean_fields(recording: Pets, frames: Sequence[int]) -> dict[int, Mode]:
    """The mean field of each frame."""
    scene, footage = recording.scene(), recording.footage()
    return {frame: alone(scene, footage.masks(frame)) for frame in frames}


def alone(scene: Scene, masks: Any) -> Mode:
    """The mean field of one frame."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MixfieldWarning)
        return mean_field(Occupancy(scene, masks), solver=SOLVER)


def moda_curve(truth: Mapping[int, Floats], candidates: Sequence[Found]) -> list[dict[str, Any]]:
    """MODA at each threshold of the candidate that has the fewest mistakes in each frame, with bootstrap intervals."""
    points = []
    for threshold in THRESHOLDS:
        frames = metrics.best_detections([metrics.detection_scores(truth, found, threshold) for found in candidates])
        total = metrics.total(frames)
        points.append(
            {
                "threshold": threshold,
                "moda": total.moda,
                "interval": list(metrics.bootstrap(frames)),
                "modp": total.modp,
                "misses": total.misses,
                "false_positives": total.false_positives,
                "truths": total.truths,
            }
        )
    return points
