"""People walking in a room, seen by one to four cameras: cylinders, mutual occlusion, noisy masks, known truth."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mixfield import _arrays
from mixfield.errors import MixfieldError
from mixfield.scene.camera import Calibrated, Person
from mixfield.scene.lens import OpenCVLens
from mixfield.scene.scene import Scene

Floats = NDArray[np.float64]

ROOM = 6.0  # side in metres
SIZE = (192, 144)  # of the images
APART = 0.6  # metres that two people keep
# height of the cameras in metres: from above people hide each other little, from a little above their heads often
HEIGHTS = {"easy": 4.5, "ambiguous": 2.2}


@dataclass(frozen=True, eq=False)
class Walk:
    """A synthetic recording.

    Attributes
    ----------
    scene : the room and the cameras.
    masks : (T, cameras, H, W) noisy foreground.
    truth : (T, people, 2) x and y in metres.
    """

    scene: Scene
    masks: NDArray[np.bool_]
    truth: Floats


def walking_people(
    n_people: int = 4,
    n_cameras: int = 2,
    n_frames: int = 20,
    *,
    setting: str = "ambiguous",
    noise: float = 0.005,
    cell: float = 0.25,
    rng: int | np.random.Generator = 0,
) -> Walk:
    """People who walk through a square room.

    Parameters
    ----------
    n_people, n_cameras, n_frames : how many; one to four cameras stand in the corners.
    setting : ``"easy"`` with cameras near the ceiling, ``"ambiguous"`` with cameras a little above the heads.
    noise : part of each mask that is wrong: specks of foreground, and holes.
    cell : side of the cells of the ground in metres.
    rng : seed or generator.
    """
    if setting not in HEIGHTS:
        raise MixfieldError(f"setting must be one of {sorted(HEIGHTS)}, got {setting!r}")
    if not 1 <= n_cameras <= 4:
        raise MixfieldError(f"n_cameras must lie in 1..4, got {n_cameras}")
    if not 0 <= noise < 0.5:
        raise MixfieldError(f"noise must lie in [0, 0.5), got {noise}")
    generator = _arrays.generator(rng)
    truth = _paths(_arrays.at_least("n_people", n_people, 0), _arrays.at_least("n_frames", n_frames, 1), generator)
    corners = np.array([(-2.0, -2.0), (ROOM + 2.0, -2.0), (ROOM + 2.0, ROOM + 2.0), (-2.0, ROOM + 2.0)])
    cameras = [
        look_at(
            (*corner, HEIGHTS[setting]), (ROOM / 2, ROOM / 2, 0.9), size=SIZE, focal=0.75 * SIZE[0], name=f"camera {c}"
        )
        for c, corner in enumerate(corners[:n_cameras])
    ]
    scene = Scene.from_cameras(cameras, (0.0, 0.0, ROOM, ROOM), cell=cell, margin=0.0, reduction=1)
    sizes = generator.normal(1.0, 0.03, (n_people, 2))
    masks = np.stack(
        [np.stack([_noisy(_union(camera, feet, sizes), noise, generator) for camera in cameras]) for feet in truth]
    )
    return Walk(scene, masks, truth)


def look_at(
    position: ArrayLike, target: ArrayLike, *, size: tuple[int, int], focal: float, name: str = ""
) -> Calibrated:
    """A camera at ``position`` (3,) that looks at ``target`` (3,), upright; ``focal`` in pixels."""
    centre = np.asarray(position, np.float64)
    forward = np.asarray(target, np.float64) - centre
    forward /= np.linalg.norm(forward)
    right = np.cross(forward, (0.0, 0.0, 1.0))
    right /= np.linalg.norm(right)
    rotation = np.stack([right, np.cross(forward, right), forward])
    matrix = np.array([[focal, 0.0, size[0] / 2], [0.0, focal, size[1] / 2], [0.0, 0.0, 1.0]])
    return Calibrated(size[0], size[1], rotation, -rotation @ centre, OpenCVLens(matrix, np.zeros(5)), name)


def _paths(n_people: int, n_frames: int, rng: np.random.Generator) -> Floats:
    """(T, people, 2) smooth walks that stay in the room and keep apart."""
    place, speed = np.empty((n_people, 2)), rng.normal(0.0, 0.2, (n_people, 2))
    for k in range(n_people):
        tried = rng.uniform(0.5, ROOM - 0.5, (1000, 2))
        apart = (np.linalg.norm(place[:k] - tried[:, None], axis=-1) > APART).all(1)
        if not apart.any():
            raise MixfieldError(f"n_people must leave room to keep apart, got {n_people} in {ROOM} x {ROOM} m")
        place[k] = tried[apart.argmax()]
    path = np.empty((n_frames, n_people, 2))
    for t in range(n_frames):
        path[t] = place
        speed = 0.9 * speed + rng.normal(0.0, 0.1, speed.shape)
        for k in range(n_people):
            moved = place[k] + speed[k]
            others = np.linalg.norm(np.delete(place, k, 0) - moved, axis=1)
            if (moved > 0.4).all() and (moved < ROOM - 0.4).all() and (others > APART).all():
                place[k] = moved
            else:
                speed[k] = -speed[k]
    return path


def _union(camera: Calibrated, feet: Floats, sizes: Floats) -> NDArray[np.bool_]:
    """The silhouettes of all people in one camera."""
    image = np.zeros((camera.height, camera.width), bool)
    for place, (tall, wide) in zip(feet, sizes, strict=True):
        image |= _cylinder(camera, place, Person(1.75 * tall, 0.45 * wide))
    return image


def _cylinder(camera: Calibrated, place: Floats, person: Person) -> NDArray[np.bool_]:
    """The silhouette of a cylinder: the convex hull of its two rims."""
    from scipy.spatial import ConvexHull

    angle = np.linspace(0.0, 2 * np.pi, 24, endpoint=False)
    rim = place + 0.5 * person.width * np.stack([np.cos(angle), np.sin(angle)], axis=-1)
    points = np.concatenate([np.c_[rim, np.full(24, z)] for z in (0.0, person.height)])
    pixels = camera.project(points)
    image = np.zeros((camera.height, camera.width), bool)
    if not np.isfinite(pixels).all():
        return image
    low = np.clip(np.floor(pixels.min(0)), 0, (camera.width, camera.height)).astype(int)
    high = np.clip(np.ceil(pixels.max(0)), 0, (camera.width, camera.height)).astype(int)
    y, x = np.mgrid[low[1] : high[1], low[0] : high[0]] + 0.5  # nothing lies outside this box
    sides = ConvexHull(pixels).equations
    image[low[1] : high[1], low[0] : high[0]] = np.all([a * x + b * y + c <= 0 for a, b, c in sides], axis=0)
    return image


def _noisy(mask: NDArray[np.bool_], noise: float, rng: np.random.Generator) -> NDArray[np.bool_]:
    """With specks and holes that together change a part ``noise`` of the image."""
    out = mask.copy()
    height, width = mask.shape
    left = noise * mask.size
    while left > 0:
        tall, wide = rng.integers(2, 9, 2)
        top, start = rng.integers(0, height - tall), rng.integers(0, width - wide)
        out[top : top + tall, start : start + wide] ^= True
        left -= tall * wide
    return out
