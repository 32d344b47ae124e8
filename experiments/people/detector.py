"""The detections of a neural detector on view 1 of PETS, as maps of cells: single cells, or blobs as of a heat map."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from experiments.people.moda import Detections, Floats
from experiments.people.pets import ANNOTATED, Pets
from mixfield.io.calibration import read_camera
from mixfield.scene import Ground

FILE = "yolov8n_bytetrack_view001.csv"
CERTAIN = 0.95  # probability at the foot of a detection; the file has no scores
SIGMA = 0.25  # metres of a blob


@dataclass(frozen=True)
class DetectedFeet:
    """Foot points of the boxes in a file, on the ground of the recording."""

    recording: Pets

    @cached_property
    def feet(self) -> Detections:
        """(k, 2) foot points of each frame, on the whole ground."""
        camera = read_camera(self.recording.folder / "View_001.xml")
        with Path(self.recording.folder / FILE).open(encoding="utf-8") as file:
            rows = np.array(
                [[float(row[key]) for key in ("frame", "x", "y", "w", "h")] for row in csv.DictReader(file)]
            )
        points = camera.to_ground(np.stack([rows[:, 1] + rows[:, 3] / 2, rows[:, 2] + rows[:, 4]], axis=-1))
        return {frame: points[rows[:, 0] == frame] for frame in range(ANNOTATED)}

    def cells(self, ground: Ground) -> Floats:
        """(T, rows, columns) probabilities: `CERTAIN` at the cell of each foot point, next to zero elsewhere."""
        maps = np.full((ANNOTATED, *ground.shape), 1e-6)
        for frame, points in self.feet.items():
            column, row = np.floor((points - ground.origin) / ground.cell).astype(int).T
            inside = (row >= 0) & (row < ground.shape[0]) & (column >= 0) & (column < ground.shape[1])
            maps[frame, row[inside], column[inside]] = CERTAIN
        return maps

    def blobs(self, ground: Ground) -> Floats:
        """(T, rows, columns) probabilities: Gaussian blobs around the foot points, the shape of a heat map."""
        centres, maps = ground.centres(), np.full((ANNOTATED, *ground.shape), 1e-6)
        for frame, points in self.feet.items():
            for point in points:
                squared: NDArray[np.float64] = ((centres - point) ** 2).sum(-1)
                np.maximum(maps[frame], CERTAIN * np.exp(-squared / (2 * SIGMA**2)), out=maps[frame])
        return maps
