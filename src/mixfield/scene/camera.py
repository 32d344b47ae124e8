"""Calibrated cameras: projection of people on the ground, and back-projection of pixels to the ground."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mixfield import _arrays
from mixfield.errors import MixfieldError
from mixfield.scene.lens import Lens

Floats = NDArray[np.float64]

RIM_POINTS = 12  # points on each rim of a cylinder


@dataclass(frozen=True)
class Person:
    """The cylinder that models a person, in metres."""

    height: float = 1.75
    width: float = 0.5

    def __post_init__(self) -> None:
        _arrays.positive("height", self.height)
        _arrays.positive("width", self.width)


class Camera(Protocol):
    """A view of the ground plane z = 0."""

    @property
    def width(self) -> int: ...
    @property
    def height(self) -> int: ...
    @property
    def name(self) -> str: ...

    def silhouettes(self, feet: Floats, person: Person, /) -> Floats:
        """(n, 4) left, top, right, bottom of people standing at ``feet`` (n, 2); NaN behind the camera."""

    def to_ground(self, pixels: ArrayLike, /) -> Floats:
        """(..., 2) points of the ground plane in metres at pixels (..., 2)."""


@dataclass(frozen=True, eq=False)
class Calibrated:
    """A camera with a position, an orientation and a lens.

    Attributes
    ----------
    width, height : of the image in pixels.
    rotation, translation : (3, 3) and (3,), from world to camera coordinates in metres: ``R x + t``.
    lens : from directions to pixels.
    """

    width: int
    height: int
    rotation: Floats
    translation: Floats
    lens: Lens
    name: str = ""

    def project(self, points: ArrayLike) -> Floats:
        """(..., 2) pixels of points (..., 3) in metres; NaN behind the camera."""
        local = np.asarray(points, np.float64) @ self.rotation.T + self.translation
        depth = local[..., 2:]
        ahead = depth > 1e-6
        return np.asarray(self.lens.pixels(np.where(ahead, local[..., :2] / np.where(ahead, depth, 1.0), np.nan)))

    def to_ground(self, pixels: ArrayLike) -> Floats:
        directions = self.lens.directions(np.asarray(pixels, np.float64))
        rays = np.concatenate([directions, np.ones_like(directions[..., :1])], axis=-1) @ self.rotation
        centre = -self.translation @ self.rotation
        with np.errstate(divide="ignore", invalid="ignore"):
            distance = -centre[2] / rays[..., 2:]
            return np.where(distance > 0, centre[:2] + distance * rays[..., :2], np.nan)

    def silhouettes(self, feet: Floats, person: Person) -> Floats:
        rims = np.stack([self.project(_at(_rim(feet, person), z)) for z in (0.0, person.height)])
        foot, head = (self.project(_at(feet, z)) for z in (0.0, person.height))
        left, right = rims[..., 0].min((0, 2)), rims[..., 0].max((0, 2))
        # top and bottom from the axis: the lower rim reaches below the feet and would shift people towards the camera
        return np.stack([left, np.minimum(foot, head)[:, 1], right, np.maximum(foot, head)[:, 1]], axis=-1)


@dataclass(frozen=True, eq=False)
class FromHomography:
    """An upright camera of which only the homography of the ground is known.

    The width of a silhouette is the projected width of a person on the ground; its height follows from the aspect ratio
    of a person.

    Attributes
    ----------
    matrix : (3, 3) homography from metres on the ground to pixels.
    """

    width: int
    height: int
    matrix: Floats
    name: str = ""

    @staticmethod
    def through(ground: ArrayLike, pixels: ArrayLike, *, width: int, height: int, name: str = "") -> FromHomography:
        """The camera whose homography maps points (k, 2) of the ground, k >= 4, to ``pixels`` (k, 2)."""
        world, image = np.asarray(ground, np.float64), np.asarray(pixels, np.float64)
        if world.shape != image.shape or world.ndim != 2 or world.shape[1] != 2 or len(world) < 4:
            raise MixfieldError(
                f"ground and pixels must be (k, 2) with k >= 4 matching points, got {world.shape} and {image.shape}"
            )
        if not (np.isfinite(world).all() and np.isfinite(image).all()):
            raise MixfieldError("ground and pixels must be finite numbers")
        return FromHomography(width, height, _homography(world, image), name)

    def project(self, ground: Floats) -> Floats:
        """(..., 2) pixels of points (..., 2) of the ground; NaN beyond the horizon."""
        image = np.concatenate([ground, np.ones_like(ground[..., :1])], axis=-1) @ self.matrix.T
        # the side of the horizon of the bottom of the image
        foot = np.linalg.solve(self.matrix, np.array([self.width / 2, self.height, 1.0]))
        side = np.sign((self.matrix @ (foot / foot[2]))[2])
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(side * image[..., 2:] > 0, image[..., :2] / image[..., 2:], np.nan)

    def to_ground(self, pixels: ArrayLike) -> Floats:
        points = np.asarray(pixels, np.float64)
        ground = np.concatenate([points, np.ones_like(points[..., :1])], axis=-1) @ np.linalg.inv(self.matrix).T
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(ground[..., :2] / ground[..., 2:])

    def silhouettes(self, feet: Floats, person: Person) -> Floats:
        foot, around = self.project(feet), self.project(_rim(feet, person))
        left, right = around[..., 0].min(1), around[..., 0].max(1)
        tall = (right - left) * person.height / person.width
        return np.stack([left, foot[:, 1] - tall, right, foot[:, 1]], axis=-1)


def _homography(world: Floats, image: Floats) -> Floats:
    """(3, 3) direct linear transform from points (k, 2) to points (k, 2)."""
    points = np.concatenate([world, np.ones((len(world), 1))], axis=1)
    zero = np.zeros_like(points)
    rows = np.concatenate(
        [
            np.concatenate([points, zero, -image[:, :1] * points], axis=1),
            np.concatenate([zero, points, -image[:, 1:] * points], axis=1),
        ]
    )
    _, singular_values, basis = np.linalg.svd(rows)
    if singular_values[7] < 1e-9 * singular_values[0]:
        raise MixfieldError("ground and pixels determine no homography: no three of the points may lie on a line")
    return np.asarray(basis[-1].reshape(3, 3))


def _rim(feet: Floats, person: Person) -> Floats:
    """(n, RIM_POINTS, 2) points on the circles around people at ``feet`` (n, 2)."""
    angle = 2 * np.pi * np.arange(RIM_POINTS) / RIM_POINTS
    return np.asarray(feet[:, None] + 0.5 * person.width * np.stack([np.cos(angle), np.sin(angle)], axis=-1))


def _at(ground: Floats, height: float) -> Floats:
    """Points (..., 3) at a height above points of the ground (..., 2)."""
    return np.concatenate([ground, np.full_like(ground[..., :1], height)], axis=-1)
