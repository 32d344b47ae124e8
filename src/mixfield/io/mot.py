"""Detections as MOT Challenge text, the format that motmetrics and TrackEval read."""

from __future__ import annotations

import os
from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from mixfield import _files
from mixfield.scene.scene import Scene

StrPath = str | os.PathLike[str]


def write_mot(path: StrPath, detections: Mapping[int, ArrayLike], scene: Scene, *, view: int = 0) -> None:
    """Write positions (k, 2) in metres of each frame.

    Each line holds ``frame, id, left, top, width, height, confidence, x, y, z``: frames and ids counted from 1, ids
    new in every frame, the box in one view of the scene (-1 where the person is not visible there).
    """
    lines = []
    centres = scene.ground.centres().reshape(-1, 2)
    boxes = scene.views[view].boxes
    for frame, positions in sorted(detections.items()):
        for number, (x, y) in enumerate(np.asarray(positions, np.float64).reshape(-1, 2), 1):
            left, top, right, bottom = boxes[np.argmin(np.linalg.norm(centres - (x, y), axis=-1))].tolist()
            box = (left, top, right - left, bottom - top) if right > left else (-1, -1, -1, -1)
            lines.append(f"{frame + 1},{number},{','.join(map(str, box))},1,{x:.4f},{y:.4f},0\n")
    _files.write_text(path, "".join(lines))
