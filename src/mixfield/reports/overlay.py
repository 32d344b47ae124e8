"""The modes of a frame as an image: boxes on every camera and the ground from above, one row per mode."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mixfield.apps.detection import positions
from mixfield.io import opencv
from mixfield.mixture.posterior import MixturePosterior
from mixfield.reports.page import percent
from mixfield.reports.palette import IN_ALL_MODES, IN_OTHER_MODES, IN_THIS_MODE, INK, Color
from mixfield.reports.people_page import Positions, common_positions
from mixfield.scene.scene import Scene

Image = NDArray[np.uint8]
Floats = NDArray[np.float64]

MASK_OPACITY = 0.6
HEIGHT, TITLE_HEIGHT = 288, 30  # pixels of a panel, and of the title above each row
GROUND_LEVEL, OUTSIDE_LEVEL, PERSON_LEVEL, EMPTY_LEVEL = 255, 225, 120, 245  # grey levels of the ground


def overlay(posterior: MixturePosterior, scene: Scene, pictures: Sequence[Image]) -> Image:
    """(H, W, 3) image, blue first as in OpenCV, of the modes of a frame.

    Green people are in every mode, orange ones only in some; grey crosses are people of other modes.

    Parameters
    ----------
    posterior : from `mixfield.detect`.
    scene : its scene.
    pictures : one per camera, (H, W) grey levels or (H, W, 3) blue, green and red.
    """
    found = [positions(mode, scene) for mode in posterior.modes]
    in_all = common_positions(found)
    in_any = {tuple(position) for people in found for position in people}
    rows = []
    for k, (weight, mode, people) in enumerate(zip(posterior.weights, posterior.modes, found, strict=True), 1):
        others = in_any - {tuple(position) for position in people}
        panels = [_camera(picture, scene, c, people, in_all) for c, picture in enumerate(pictures)]
        panels.append(_ground(mode.marginals[..., 1], scene, people, in_all, others))
        rows.append(
            _titled(np.concatenate(panels, axis=1), f"mode {k}: {percent(float(weight))}, {len(people)} people")
        )
    return np.concatenate(rows)


def mask_preview(pictures: Sequence[Image], masks: Sequence[Image]) -> Image:
    """(H, W, 3) image, blue first: the picture of each camera with its foreground in color."""
    cv2, panels = opencv.library(), []
    for picture, mask in zip(pictures, masks, strict=True):
        canvas = _as_bgr(picture).copy()
        canvas[np.asarray(mask) > 0] = _bgr(IN_THIS_MODE)
        mixed = cv2.addWeighted(canvas, MASK_OPACITY, _as_bgr(picture), 1 - MASK_OPACITY, 0)
        width = max(1, round(mixed.shape[1] * HEIGHT / mixed.shape[0]))
        panels.append(cv2.resize(mixed, (width, HEIGHT), interpolation=cv2.INTER_AREA))
    return np.concatenate(panels, axis=1)


def _as_bgr(picture: Image) -> Image:
    cv2 = opencv.library()
    return np.asarray(cv2.cvtColor(picture, cv2.COLOR_GRAY2BGR) if picture.ndim == 2 else picture)


def _camera(picture: Image, scene: Scene, c: int, people: Floats, in_all: Positions) -> Image:
    """The picture of a camera with a box per person."""
    cv2, view = opencv.library(), scene.views[c]
    scale = HEIGHT / view.height
    canvas = cv2.resize(_as_bgr(picture), (round(view.width * scale), HEIGHT), interpolation=cv2.INTER_AREA)
    for position, box in zip(people, view.boxes[scene.ground.cells_at(people)] * scale, strict=True):
        left, top, right, bottom = (round(float(v)) for v in box)
        if right > left:
            cv2.rectangle(canvas, (left, top), (right - 1, bottom - 1), _person_color(position, in_all), 2)
    return np.asarray(canvas)


def _ground(probability: Floats, scene: Scene, people: Floats, in_all: Positions, others: Iterable[ArrayLike]) -> Image:
    """The ground from above, y upwards: probabilities in grey, people as discs, people of other modes as crosses."""
    cv2 = opencv.library()
    canvas, scale = _ground_levels(probability, scene)
    bottom = scene.ground.shape[0] * scale

    def pixel(position: ArrayLike) -> tuple[int, int]:
        x, y = (np.asarray(position) - scene.ground.origin) / scene.ground.cell * scale
        return round(float(x)), round(float(round(bottom) - y))

    for position in others:
        cv2.drawMarker(canvas, pixel(position), _bgr(IN_OTHER_MODES), cv2.MARKER_TILTED_CROSS, 9, 2)
    for position in people:
        cv2.circle(canvas, pixel(position), 5, _person_color(position, in_all), -1, cv2.LINE_AA)
    return canvas


def _ground_levels(probability: Floats, scene: Scene) -> tuple[Image, float]:
    """(HEIGHT, W, 3) grey levels of the ground, darker for larger probabilities, and the pixels per cell."""
    cv2 = opencv.library()
    rows, columns = scene.ground.shape
    scale = min(HEIGHT / rows, 2.0 * HEIGHT / columns)
    levels = np.where(scene.interest, GROUND_LEVEL, OUTSIDE_LEVEL) - PERSON_LEVEL * np.clip(probability, 0, 1)
    width, height = max(1, round(columns * scale)), max(1, round(rows * scale))
    scaled = cv2.resize(levels[::-1].astype(np.uint8), (width, height), interpolation=cv2.INTER_NEAREST)
    canvas = np.full((HEIGHT, width, 3), EMPTY_LEVEL, np.uint8)
    canvas[:height] = scaled[..., None]
    return canvas, scale


def _titled(row: Image, title: str) -> Image:
    cv2 = opencv.library()
    band = np.full((TITLE_HEIGHT, row.shape[1], 3), 255, np.uint8)
    cv2.putText(band, title, (8, TITLE_HEIGHT - 10), cv2.FONT_HERSHEY_SIMPLEX, 0.55, _bgr(INK), 1, cv2.LINE_AA)
    return np.concatenate([band, row])


def _person_color(position: Any, in_all: Positions) -> Color:
    return _bgr(IN_ALL_MODES if tuple(position) in in_all else IN_THIS_MODE)


def _bgr(color: Color) -> Color:
    """A color as OpenCV orders it."""
    red, green, blue = color
    return blue, green, red
