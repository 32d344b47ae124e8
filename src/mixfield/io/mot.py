"""Detections as MOT Challenge text, the format that motmetrics and TrackEval read.

Each line has ``frame, id, left, top, width, height, confidence, x, y, z``: frames and ids from 1, the box of the person
in one view or -1 where it is not visible, and the position on the ground in metres.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from mixfield import _files
from mixfield.scene.scene import Scene

StrPath = str | os.PathLike[str]


def write_mot(path: StrPath, detections: Mapping[int, ArrayLike], scene: Scene, *, view: int = 0) -> None:
    """Write detections; ids are new in every frame.

    Parameters
    ----------
    path : the file.
    detections : (k, 2) x and y in metres by frame number.
    scene : their scene.
    view : index of the view whose boxes are written.
    """
    lines = []
    for frame, positions in sorted(detections.items()):
        points = np.asarray(positions, np.float64).reshape(-1, 2)
        boxes = scene.views[view].boxes[scene.ground.cells_at(points)].tolist()
        for identity, (box, (x, y)) in enumerate(zip(boxes, points, strict=True)):
            lines.append(mot_line(frame, identity, box, "1", x, y))
    _files.write_text(path, "".join(lines))


def mot_line(frame: int, identity: int, box: Sequence[int], confidence: str, x: float, y: float) -> str:
    """One line; ``frame`` and ``identity`` from 0, ``box`` is left, top, right and bottom, empty where not visible."""
    left, top, right, bottom = box
    visible = (left, top, right - left, bottom - top) if right > left else (-1, -1, -1, -1)
    return f"{frame + 1},{identity + 1},{','.join(map(str, visible))},{confidence},{x:.4f},{y:.4f},0\n"
