"""People of one height or of several: PETS, a synthetic room with people of known heights, and WILDTRACK.

The heights were chosen on the first half of PETS.  The best single height is the trivial control: on PETS that with
which KSP has the highest MODA at 1 m on the first half, in the synthetic room that with which mean field has the
highest MODA at 0.5 m on as many other recordings.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from experiments.occupancy.pets_curves import detections
from experiments.people.frames import occupancy_mean_field, tracked
from experiments.people.moda import Detections, Floats
from experiments.people.pets import ANNOTATED, AREA, Pets
from experiments.people.wildtrack import FRAMES, Wildtrack
from experiments.quiet import ignore_warnings
from mixfield import metrics, track
from mixfield.apps import fit_views, with_heights
from mixfield.datasets import walking_people
from mixfield.datasets.people import HEIGHT, ROOM
from mixfield.mixture import MixturePosterior
from mixfield.scene import Scene
from mixfield.scene.camera import Person

SIZES = (1.6, 1.75, 1.9)  # metres
BEST_ON_PETS = 1.7
SINGLE = tuple(np.arange(1.55, 2.0, 0.05).round(2).tolist())
SPREAD = 0.1  # metres: standard deviation of the heights of synthetic people
WALKS, LENGTH = 20, 10  # recordings and their frames: one block of the bootstrap each

Measured = tuple[str, dict[int, Floats], dict[str, Detections]]


def pets(data: Path) -> Measured:
    """Mean field and KSP on view 1 of PETS."""
    recording, frames = Pets(data / "people" / "pets09-s2l1"), range(ANNOTATED)
    scene, footage = recording.scene(), recording.footage()
    found: dict[str, Detections] = {}
    masks = {frame: footage.masks(frame) for frame in frames}
    single = Scene.from_cameras(scene.cameras, AREA, person=Person(BEST_ON_PETS))
    scenes = {"": scene, ", best single height": single, ", three heights": with_heights(scene, SIZES)}
    for name, one in scenes.items():
        fields = {frame: occupancy_mean_field(one, images) for frame, images in masks.items()}
        tracks = track([MixturePosterior((mode,)) for mode in fields.values()], one, frame_rate=recording.frame_rate)
        found |= {f"mean field{name}": detections(fields, one), f"KSP{name}": tracked(tracks, one, frames)}
    return "PETS", recording.truth(frames), found


def synthetic(data: Path, cameras: int) -> Measured:  # noqa: ARG001
    """Four people in a room, with heights drawn from a normal distribution; one recording after the other."""
    scene, masks, truth = _recordings(cameras, range(WALKS))
    _, others, other_truth = _recordings(cameras, range(WALKS, 2 * WALKS))
    scores = {h: metrics.moda(other_truth, _found(_with_height(scene, h), others), 0.5) for h in SINGLE}
    best = max(SINGLE, key=lambda height: scores[height])
    single, sizes = _with_height(scene, best), np.array(SIZES) + best - HEIGHT
    found = {
        "mean field": _found(scene, masks),
        "mean field, best single height": _found(single, masks),
        "mean field, three heights": _found(with_heights(scene, SIZES), masks),
        "mean field, three heights around the best": _found(with_heights(single, sizes, person=Person(best)), masks),
    }
    return "synthetic", truth, found


def _recordings(cameras: int, seeds: Sequence[int]) -> tuple[Scene, dict[int, Any], dict[int, Floats]]:
    """The scene, the masks and the true positions of one recording after the other."""
    masks: dict[int, Any] = {}
    truth: dict[int, Floats] = {}
    for seed in seeds:
        heights = np.random.default_rng(seed).normal(HEIGHT, SPREAD, 4)
        walk = walking_people(4, cameras, LENGTH, setting="easy", heights=heights, rng=seed)
        masks |= {seed * LENGTH + t: images for t, images in enumerate(walk.masks)}
        truth |= {seed * LENGTH + t: places for t, places in enumerate(walk.truth)}
    return walk.scene, masks, truth


def wildtrack(data: Path) -> Measured:
    """Every fifth frame of CVLab1, in which the boxes of all people have one height: nothing is to be gained."""
    recording = Wildtrack(data / "people" / "wildtrack", ("CVLab1",), noisy=True, region=("CVLab1",), pixel=1)
    masks = {frame: recording.masks(frame) for frame in FRAMES if frame % 25 == 0}
    found: dict[str, Detections] = {}
    for name, scene in {"": recording.scene, ", three heights": with_heights(recording.scene, SIZES)}.items():
        with ignore_warnings():
            fitted = fit_views(replace(scene, form="local"), [masks[frame] for frame in list(masks)[::4]])
        found[f"mean field{name}"] = _found(fitted, masks)
    return "WILDTRACK", recording.truth(list(masks)), found


def _with_height(scene: Scene, height: float) -> Scene:
    """The scene of a synthetic room with people of one other height."""
    options: dict[str, Any] = {"cell": scene.ground.cell, "margin": 0.0, "reduction": 1, "person": Person(height)}
    return Scene.from_cameras(scene.cameras, (0.0, 0.0, ROOM, ROOM), **options)


def _found(scene: Scene, masks: Mapping[int, Any]) -> Detections:
    return detections({frame: occupancy_mean_field(scene, images) for frame, images in masks.items()}, scene)


HEIGHTS: dict[str, Callable[[Path], Measured]] = {
    "PETS view 1": pets,
    "synthetic room, one camera": partial(synthetic, cameras=1),
    "synthetic room, two cameras": partial(synthetic, cameras=2),
    "WILDTRACK, CVLab1": wildtrack,
}
