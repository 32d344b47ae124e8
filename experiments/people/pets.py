"""PETS 2009 S2.L1: scenes, footage and the true positions of people on the ground."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from experiments.people.cvml import read_cvml
from mixfield.errors import MixfieldError
from mixfield.io.calibration import read_camera
from mixfield.io.footage import CameraFootage, Footage
from mixfield.io.frame_source import open_frames
from mixfield.scene import Scene

AREA = (-14.0696, -14.2740, 4.9813, 1.7335)  # the usual area of interest, metres
FOOTAGE = {1: "vtest.avi", 6: "views/View_006/frame_{frame:04d}.jpg", 8: "views/View_008/frame_{frame:04d}.jpg"}
VIEWS = ((1,), (1, 8))  # the cameras of the experiments

ANNOTATED = 400  # frames, from the first
ANNOTATIONS = "PETS2009-S2L1-cropped-frames0-399.xml"  # by A. Milan


@dataclass(frozen=True)
class Pets:
    """The recording in a folder, with some of its cameras."""

    folder: Path
    views: tuple[int, ...] = (1,)
    frame_rate: float = 7.0

    def __post_init__(self) -> None:
        if not self.folder.is_dir():
            raise MixfieldError(f"no PETS recording in {self.folder}; set MIXFIELD_DATA to the folder of the data sets")

    def scene(self) -> Scene:
        """The scene with all defaults."""
        return Scene.from_cameras([read_camera(self.folder / f"View_{view:03d}.xml") for view in self.views], AREA)

    def footage(self) -> Footage:
        """The images of the cameras."""
        return Footage(tuple(CameraFootage(open_frames(self.folder, FOOTAGE[view]), None) for view in self.views))

    def posterior_folder(self, work: Path) -> Path:
        """The folder inside ``work`` for the posteriors of these views, shared by all experiments."""
        return work / f"views-{'-'.join(map(str, self.views))}"

    def people(self, frames: Sequence[int]) -> dict[int, tuple[NDArray[np.int64], NDArray[np.float64]]]:
        """Identities (k,) and foot points (k, 2) of the annotated boxes, on the ground and inside the area."""
        camera = read_camera(self.folder / "View_001.xml")
        boxes = read_cvml(self.folder / ANNOTATIONS)
        people = {}
        for frame in frames:
            identity, left, top, width, height = boxes[frame].T
            feet = camera.to_ground(np.stack([left + width / 2, top + height], axis=-1))
            inside = (feet >= AREA[:2]).all(1) & (feet <= AREA[2:]).all(1)
            people[frame] = identity[inside].astype(np.int64), feet[inside]
        return people

    def truth(self, frames: Sequence[int]) -> dict[int, NDArray[np.float64]]:
        """Foot points (k, 2) of the annotated boxes."""
        return {frame: feet for frame, (_, feet) in self.people(frames).items()}


def recordings(data: Path) -> list[Pets]:
    """The recording with each of the selections `VIEWS`."""
    return [Pets(data / "people" / "pets09-s2l1", views) for views in VIEWS]
