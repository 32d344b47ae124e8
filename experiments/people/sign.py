"""The sign in view 1 of PETS, which hides people: misses behind it, before and after occluders are learnt."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from experiments.people.moda import Detections, Floats
from experiments.people.pets import ANNOTATED, Pets
from mixfield import metrics
from mixfield.apps import learn_occluders
from mixfield.scene import Scene
from mixfield.scene.camera import Person

SIGN = slice(203, 245), slice(412, 447)  # rows and columns of the board
BEHIND = 0.15  # share of a person's box that the board covers


def with_occluders(recording: Pets) -> Scene:
    """The scene with the occluders of the first half of the recording."""
    footage = recording.footage()
    return learn_occluders(recording.scene(), (footage.masks(frame) for frame in range(ANNOTATED // 2)))


def misses_behind(recording: Pets, truth: Mapping[int, Floats], found: Detections, radius: float) -> int:
    """Number of missed people of whom the board hides a part."""
    scene = recording.scene()
    board = np.zeros((scene.views[0].height, scene.views[0].width), bool)
    board[SIGN] = True
    missed = 0
    for frame, people in truth.items():
        boxes = scene.cameras[0].silhouettes(people, Person()).astype(int)
        shares = [board[top:bottom, left:right].mean() for left, top, right, bottom in boxes.clip(0)]
        behind = np.array(shares, np.float64) > BEHIND
        whole, visible = (
            metrics.detection_scores({0: one}, {0: found[frame]}, radius)[0].misses for one in (people, people[~behind])
        )
        missed += whole - visible
    return missed
