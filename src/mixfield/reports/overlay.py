"""The modes of a frame as a picture: boxes on every camera and a map from above, one row per mode."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mixfield.apps.detection import positions
from mixfield.io import opencv
from mixfield.mixture.posterior import MixturePosterior
from mixfield.scene.scene import Scene

Image = NDArray[np.uint8]

HEIGHT = 288  # of a panel
BAND = 30  # above each row, for its title
# as OpenCV orders colours: blue, green, red
COMMON, OWN, GONE, INK = (90, 200, 80), (40, 120, 255), (190, 190, 190), (30, 27, 27)


def overlay(posterior: MixturePosterior, scene: Scene, pictures: Sequence[Image]) -> Image:
    """(H, W, 3) picture: green people are in every mode, orange ones in some, grey crosses in other modes only."""
    people = [positions(mode, scene) for mode in posterior.modes]
    everywhere = {tuple(p) for p in people[0]}.intersection(*({tuple(p) for p in one} for one in people[1:]))
    rows = []
    for k, (weight, found) in enumerate(zip(posterior.weights, people, strict=True), 1):
        elsewhere = {tuple(p) for one in people for p in one} - {tuple(p) for p in found}
        panels = [_camera(picture, scene, c, found, everywhere) for c, picture in enumerate(pictures)]
        panels.append(_from_above(posterior.modes[k - 1].marginals[..., 1], scene, found, everywhere, elsewhere))
        rows.append(_titled(np.concatenate(panels, axis=1), f"mode {k}: {100 * weight:.1f} %, {len(found)} people"))
    return np.concatenate(rows)


def _camera(picture: Image, scene: Scene, view: int, found: NDArray[np.float64], everywhere: set[Any]) -> Image:
    """One camera with a box per person."""
    cv2 = opencv.library()
    seen = scene.views[view]
    canvas = cv2.cvtColor(picture, cv2.COLOR_GRAY2BGR) if picture.ndim == 2 else picture.copy()
    canvas = cv2.resize(canvas, (round(seen.width * HEIGHT / seen.height), HEIGHT), interpolation=cv2.INTER_AREA)
    scale = HEIGHT / seen.height
    centres = scene.ground.centres().reshape(-1, 2)
    for person in found:
        box = seen.boxes[np.argmin(np.linalg.norm(centres - person, axis=-1))] * scale
        left, top, right, bottom = (round(float(v)) for v in box)
        if right > left:
            colour = COMMON if tuple(person) in everywhere else OWN
            cv2.rectangle(canvas, (left, top), (right - 1, bottom - 1), colour, 2)
    return np.asarray(canvas)


def _from_above(
    probability: NDArray[np.float64],
    scene: Scene,
    found: NDArray[np.float64],
    everywhere: set[Any],
    elsewhere: set[Any],
) -> Image:
    """The ground, north up: probabilities in grey, the area of interest framed, people as dots."""
    cv2 = opencv.library()
    rows, columns = scene.ground.shape
    scale = min(HEIGHT / rows, 2.0 * HEIGHT / columns)
    shade = np.where(scene.interest, 255, 225) - 120 * np.clip(probability, 0, 1)
    size = (max(1, round(columns * scale)), max(1, round(rows * scale)))
    small = cv2.resize(shade[::-1].astype(np.uint8), size, interpolation=cv2.INTER_NEAREST)
    canvas = np.full((HEIGHT, size[0], 3), 245, np.uint8)
    canvas[: size[1]] = small[..., None]

    def place(person: Any) -> tuple[int, int]:
        x, y = (np.asarray(person) - scene.ground.origin) / scene.ground.cell * scale
        return round(float(x)), round(float(size[1] - y))

    for person in elsewhere:
        cv2.drawMarker(canvas, place(person), GONE, cv2.MARKER_TILTED_CROSS, 9, 2)
    for person in found:
        cv2.circle(canvas, place(person), 5, COMMON if tuple(person) in everywhere else OWN, -1, cv2.LINE_AA)
    return canvas


def _titled(row: Image, title: str) -> Image:
    cv2 = opencv.library()
    band = np.full((BAND, row.shape[1], 3), 255, np.uint8)
    cv2.putText(band, title, (8, BAND - 10), cv2.FONT_HERSHEY_SIMPLEX, 0.55, INK, 1, cv2.LINE_AA)
    return np.concatenate([band, row])
