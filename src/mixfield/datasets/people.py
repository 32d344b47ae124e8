"""People who walk through a room, seen by one to four cameras: cylinders, occlusion, noisy masks, known positions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mixfield import _arrays
from mixfield.errors import MixfieldError
from mixfield.scene.camera import Calibrated, Person
from mixfield.scene.lens import OpenCVLens
from mixfield.scene.scene import Scene

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

ROOM = 6.0  # side in metres
CORNER = 2.0  # metres from the corners of the room to the cameras, along each axis
SIZE = (192, 144)  # width and height of the images
FOCAL = 0.75 * SIZE[0]  # pixels
TARGET = (ROOM / 2, ROOM / 2, 0.9)  # metres; the cameras look at it
DISTANCE = 0.6  # metres between two people, at least
MARGIN = 0.4  # metres between people and walls, at least
HEIGHTS = {"easy": 4.5, "ambiguous": 2.2}  # metres, of the cameras; the lower they are, the more people occlude others
RIM_POINTS = 24  # of a cylinder
HEIGHT = 1.75  # metres


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
    masks: Mask = field(repr=False)
    truth: Floats = field(repr=False)


def walking_people(
    n_people: int = 4,
    n_cameras: int = 2,
    n_frames: int = 20,
    *,
    setting: str = "ambiguous",
    noise: float = 0.005,
    heights: ArrayLike | None = None,
    cell: float = 0.25,
    rng: int | np.random.Generator = 0,
) -> Walk:
    """People who walk through a square room.

    Parameters
    ----------
    n_people, n_cameras, n_frames : their numbers; one to four cameras are in the corners.
    setting : ``"easy"`` with cameras near the ceiling, ``"ambiguous"`` with cameras slightly above the heads.
    noise : share of each mask that is wrong: specks of foreground, and holes.
    heights : (n_people,) in metres; by default 1.75 with a standard deviation of 3 %.
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
    cameras = _corner_cameras(n_cameras, HEIGHTS[setting])
    scene = Scene.from_cameras(cameras, (0.0, 0.0, ROOM, ROOM), cell=cell, margin=0.0, reduction=1)
    sizes = generator.normal(1.0, 0.03, (n_people, 2))
    if heights is not None:
        metres = _arrays.floats("heights", heights)
        _arrays.check_shape("heights", metres, (n_people,), "= (n_people,)")
        sizes[:, 0] = [_arrays.positive("heights", height) / HEIGHT for height in metres.tolist()]
    return Walk(scene, np.stack([_masks(cameras, positions, sizes, noise, generator) for positions in truth]), truth)


def look_at(
    position: ArrayLike, target: ArrayLike, *, size: tuple[int, int], focal: float, name: str = ""
) -> Calibrated:
    """An upright camera at ``position`` (3,) that looks at ``target`` (3,), with ``focal`` in pixels."""
    centre = np.asarray(position, np.float64)
    forward = np.asarray(target, np.float64) - centre
    forward /= np.linalg.norm(forward)
    right = np.cross(forward, (0.0, 0.0, 1.0))
    right /= np.linalg.norm(right)
    rotation = np.stack([right, np.cross(forward, right), forward])
    matrix = np.array([[focal, 0.0, size[0] / 2], [0.0, focal, size[1] / 2], [0.0, 0.0, 1.0]])
    return Calibrated(size[0], size[1], rotation, -rotation @ centre, OpenCVLens(matrix, np.zeros(5)), name)


def _corner_cameras(count: int, height: float) -> list[Calibrated]:
    low, high = -CORNER, ROOM + CORNER
    corners = ((low, low), (high, low), (high, high), (low, high))
    return [
        look_at((*corner, height), TARGET, size=SIZE, focal=FOCAL, name=f"camera {c}")
        for c, corner in enumerate(corners[:count])
    ]


def _paths(n_people: int, n_frames: int, rng: np.random.Generator) -> Floats:
    """(T, people, 2) smooth walks that keep their distance from each other and from the walls."""
    velocity = rng.normal(0.0, 0.2, (n_people, 2))
    position = _start_positions(n_people, rng)
    path = np.empty((n_frames, n_people, 2))
    for t in range(n_frames):
        path[t] = position
        velocity = 0.9 * velocity + rng.normal(0.0, 0.1, velocity.shape)
        for k in range(n_people):
            moved = position[k] + velocity[k]
            in_room = (moved > MARGIN).all() and (moved < ROOM - MARGIN).all()
            if in_room and (np.linalg.norm(np.delete(position, k, 0) - moved, axis=1) > DISTANCE).all():
                position[k] = moved
            else:
                velocity[k] = -velocity[k]
    return path


def _start_positions(n_people: int, rng: np.random.Generator) -> Floats:
    position = np.empty((n_people, 2))
    for k in range(n_people):
        candidates = rng.uniform(0.5, ROOM - 0.5, (1000, 2))
        free = (np.linalg.norm(position[:k] - candidates[:, None], axis=-1) > DISTANCE).all(1)
        if not free.any():
            raise MixfieldError(f"n_people must leave room to keep apart, got {n_people} in {ROOM} x {ROOM} m")
        position[k] = candidates[free.argmax()]
    return position


def _masks(
    cameras: Sequence[Calibrated], positions: Floats, sizes: Floats, noise: float, rng: np.random.Generator
) -> Mask:
    """(cameras, H, W) noisy masks of people at ``positions`` (people, 2)."""
    return np.stack([_noisy(_silhouettes(camera, positions, sizes), noise, rng) for camera in cameras])


def _silhouettes(camera: Calibrated, positions: Floats, sizes: Floats) -> Mask:
    """(H, W) union of the silhouettes of all people; ``sizes`` (people, 2) scale their height and width."""
    mask = np.zeros((camera.height, camera.width), bool)
    for position, (height, width) in zip(positions, sizes, strict=True):
        mask |= _cylinder(camera, position, Person(HEIGHT * height, 0.45 * width))
    return mask


def _cylinder(camera: Calibrated, position: Floats, person: Person) -> Mask:
    """(H, W) silhouette of a cylinder: the convex hull of its two rims."""
    from scipy.spatial import ConvexHull

    angle = np.linspace(0.0, 2 * np.pi, RIM_POINTS, endpoint=False)
    rim = position + 0.5 * person.width * np.stack([np.cos(angle), np.sin(angle)], axis=-1)
    points = np.concatenate([np.c_[rim, np.full(RIM_POINTS, z)] for z in (0.0, person.height)])
    pixels = camera.project(points)
    mask = np.zeros((camera.height, camera.width), bool)
    if not np.isfinite(pixels).all():
        return mask
    left, top = np.clip(np.floor(pixels.min(0)), 0, (camera.width, camera.height)).astype(int)
    right, bottom = np.clip(np.ceil(pixels.max(0)), 0, (camera.width, camera.height)).astype(int)
    y, x = np.mgrid[top:bottom, left:right] + 0.5
    sides = ConvexHull(pixels).equations
    mask[top:bottom, left:right] = np.all([a * x + b * y + c <= 0 for a, b, c in sides], axis=0)
    return mask


def _noisy(mask: Mask, noise: float, rng: np.random.Generator) -> Mask:
    """The mask with rectangles inverted that together cover a share ``noise`` of it."""
    noisy = mask.copy()
    rows, columns = mask.shape
    left = noise * mask.size
    while left > 0:
        height, width = rng.integers(2, 9, 2)
        y, x = rng.integers(0, rows - height), rng.integers(0, columns - width)
        noisy[y : y + height, x : x + width] ^= True
        left -= height * width
    return noisy
