"""WILDTRACK: its cameras, and silhouettes made from the boxes of its annotations, for there is no footage.

The boxes are clean, or 10 % of them are missing, the others shifted by up to 5 and dilated by 3 pixels: fixed before
anything was measured.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mixfield import _arrays
from mixfield.errors import MixfieldError
from mixfield.io import read_cameras
from mixfield.scene import Scene
from mixfield.scene.camera import Camera

Floats = NDArray[np.float64]

CAMERAS = ("CVLab1", "CVLab2", "CVLab3", "CVLab4", "IDIAP1", "IDIAP2", "IDIAP3")  # in the order of viewNum
SIZE, REDUCTION = (1920, 1080), 4
AREA = (-3.0, -9.0, 9.0, 27.0)  # metres
COLUMNS, STEP = 480, 0.025  # of the grid of positionID
FRAME_RATE = 2.0
FRAMES = range(0, 1000, 5)
FARTHEST = 15.0  # metres from a camera that sees the area alone
DROPPED, SHIFT, DILATION = 0.1, 5, 3  # share of boxes, pixels, pixels


@dataclass(frozen=True)
class Wildtrack:
    """The recording in a folder.

    Attributes
    ----------
    folder : of calibrations and annotations.
    views : names of the cameras.
    noisy : whether silhouettes are dropped, shifted and dilated.
    pixel : side, in pixels of the annotations, of the pixels in which silhouettes are drawn, shifted and dilated.
    region : names of the cameras of which one must see a cell from at most `FARTHEST` metres; empty for the whole area.
    cell : side of a cell in metres.
    """

    folder: Path
    views: tuple[str, ...] = CAMERAS
    noisy: bool = False
    region: tuple[str, ...] = ()
    pixel: int = REDUCTION
    cell: float = 0.25

    def __post_init__(self) -> None:
        if not self.folder.is_dir():
            raise MixfieldError(f"no WILDTRACK in {self.folder}; set MIXFIELD_DATA to the folder of the data sets")

    def cameras(self) -> list[Camera]:
        """The chosen cameras."""
        return [self._all_cameras[name] for name in self.views]

    @cached_property
    def scene(self) -> Scene:
        """The scene with all defaults; its region is that of the truth."""
        scene = Scene.from_cameras(self.cameras(), AREA, reduction=REDUCTION, cell=self.cell)
        if not self.region:
            return scene
        near = np.zeros(scene.ground.shape, bool)
        for name in self.region:
            near |= self._near(scene, name)
        return replace(scene, region=scene.interest & near)

    def masks(self, frame: int) -> list[Floats]:
        """The silhouettes of a frame in each view, reduced."""
        rng = np.random.default_rng(frame)
        noise = {name: _Noise.draw(rng, len(self._people(frame)), self.noisy) for name in CAMERAS}
        boxes = {name: _boxes(self._people(frame), CAMERAS.index(name), self.pixel) for name in self.views}
        drawn = [_silhouettes(boxes[name], noise[name], self.pixel) for name in self.views]
        return [_arrays.block_means(mask, REDUCTION // self.pixel) for mask in drawn]

    def truth(self, frames: Sequence[int]) -> dict[int, Floats]:
        """(k, 2) true positions in the region."""
        return {frame: self._inside(_positions(self._people(frame))) for frame in frames}

    def _people(self, frame: int) -> list[dict[str, Any]]:
        return list(json.loads((self.folder / "annotations_positions" / f"{frame:08d}.json").read_text()))

    def _inside(self, points: Floats) -> Floats:
        ground = self.scene.ground
        column, row = np.floor((points - ground.origin) / ground.cell).astype(int).T
        return points[self.scene.interest[row, column]]

    @cached_property
    def _all_cameras(self) -> dict[str, Camera]:
        return {camera.name: camera for camera in read_cameras(self.folder)}

    def _near(self, scene: Scene, name: str) -> NDArray[np.bool_]:
        camera = self._all_cameras[name]
        centre = -camera.translation @ camera.rotation  # type: ignore[attr-defined]
        visible = Scene.from_cameras([camera], AREA, reduction=REDUCTION).views[0].visible.reshape(scene.ground.shape)
        return visible & (np.linalg.norm(scene.ground.centres() - centre[:2], axis=-1) <= FARTHEST)


@dataclass(frozen=True, eq=False)
class _Noise:
    """What happens to each box: (k,) whether it is kept, (k, 2) its shift, and the dilation of all."""

    kept: NDArray[np.bool_]
    shift: NDArray[np.int64]
    dilation: int

    @staticmethod
    def draw(rng: np.random.Generator, count: int, noisy: bool) -> _Noise:
        kept, shift = rng.random(count) >= DROPPED, rng.integers(-SHIFT, SHIFT + 1, (count, 2))
        return _Noise(kept, shift, DILATION) if noisy else _Noise(kept | True, 0 * shift, 0)


def _positions(people: list[dict[str, Any]]) -> Floats:
    row, column = np.divmod([person["positionID"] for person in people], COLUMNS)
    return np.stack([AREA[0] + STEP * column, AREA[1] + STEP * row], axis=-1)


def _boxes(people: list[dict[str, Any]], view: int, pixel: int) -> NDArray[np.int64]:
    """(k, 4) left, top, right, bottom in pixels of side ``pixel``; empty where a person is not seen."""
    views = [person["views"][view] for person in people]
    boxes = np.array([[one[key] for key in ("xmin", "ymin", "xmax", "ymax")] for one in views], np.float64)
    seen = (boxes != -1).any(1)
    return np.where(seen[:, None], np.rint(boxes / pixel), 0).astype(np.int64)


def _silhouettes(boxes: NDArray[np.int64], noise: _Noise, pixel: int) -> Floats:
    """(H, W) union of the boxes, in pixels of side ``pixel``."""
    width, height = SIZE[0] // pixel, SIZE[1] // pixel
    mask = np.zeros((height, width))
    grown = boxes + np.tile(noise.shift, 2) + noise.dilation * np.array([-1, -1, 1, 1])
    drawn = noise.kept & (boxes[:, 2] > boxes[:, 0])
    for left, top, right, bottom in np.clip(grown[drawn], 0, [width, height, width, height]):
        mask[top:bottom, left:right] = 1.0
    return mask
