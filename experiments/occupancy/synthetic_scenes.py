"""How often the true configuration of a synthetic scene is among four modes."""

from __future__ import annotations

from typing import Any

from experiments.occupancy.pets_curves import modes_of
from experiments.people.frames import Progress, occupancy_mean_field
from experiments.people.moda import Floats
from mixfield import metrics, positions
from mixfield.apps.detection import CRITERIA
from mixfield.datasets import walking_people
from mixfield.scene import Scene
from mixfield.solvers import Mode

WALKS = ((3, 1), (4, 2), (5, 2))  # people and cameras
RADIUS = 0.5  # metres around a true position


def synthetic_hits(
    n_people: int, n_cameras: int, progress: Progress, *, scenes: int = 10, frames: int = 10
) -> dict[str, Any]:
    """For each criterion, the share of the frames that mean field gets wrong whose true configuration is among four
    modes."""
    hits = dict.fromkeys(CRITERIA, 0)
    wrong = total = 0
    for seed in range(scenes):
        walk = walking_people(n_people, n_cameras, frames, rng=seed)
        progress(f"{n_people} people, {n_cameras} cameras: scene {seed}")
        for masks, truth in zip(walk.masks, walk.truth, strict=True):
            total += 1
            if is_true(occupancy_mean_field(walk.scene, masks), walk.scene, truth):
                continue
            wrong += 1
            for name in hits:
                modes = modes_of(walk.scene, masks, name).modes
                hits[name] += any(is_true(mode, walk.scene, truth) for mode in modes)
    rates = {name: count / max(wrong, 1) for name, count in hits.items()}
    return {"people": n_people, "cameras": n_cameras, "frames": total, "mean_field_wrong": wrong, "hits": rates}


def is_true(mode: Mode, scene: Scene, truth: Floats) -> bool:
    """Whether every person is found within `RADIUS` and nobody else is found."""
    score = metrics.total(metrics.detection_scores([truth], [positions(mode, scene)], RADIUS))
    return score.misses == 0 and score.false_positives == 0
