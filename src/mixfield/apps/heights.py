"""People of several heights: the height of each is unknown, and its posterior is found with that of the places.

With one camera a tall person looks like a shorter one who is nearer: with a single height for all, head and feet
contradict each other, and where the feet are hidden the head decides.  Let h be the height of the person in cell n,
with prior ``pi_h``.  The cost of a person in the cell is the free energy of the height,

    psi_n1 = min_r sum_h r_h (psi_nh + log(r_h / pi_h)) = -log sum_h pi_h exp(-psi_nh),

with psi_nh of the rectangle of a person of height h, given the average of the others (`mixfield.kernels.silhouettes`).
Labels, bounds and weights of modes mean what they mean with one height: the heights are integrated out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from mixfield import _arrays
from mixfield.errors import MixfieldError
from mixfield.scene.camera import Camera, Person
from mixfield.scene.scene import Scene
from mixfield.scene.view import View

SPREAD = 0.1  # metres: standard deviation of the heights of people


def with_heights(
    scene: Scene, heights: Sequence[float], shares: Sequence[float] | None = None, *, person: Person | None = None
) -> Scene:
    """The scene with people of several heights.

    Parameters
    ----------
    scene : with the calibrations of its cameras; margins are fitted afterwards.
    heights : (H,) in metres, ascending.
    shares : (H,) of the people that have each height; by default in proportion to the density of a normal distribution
        with the height of ``person`` as mean and a standard deviation of 0.1 m.
    person : the cylinder of which the scene was made; it has the width of all people.
    """
    person = person or Person()
    metres = [_arrays.positive("heights", height) for height in heights]
    if not metres or metres != sorted(set(metres)):
        raise MixfieldError(f"heights must be one or more numbers of metres that ascend, got {list(heights)}")
    density = np.exp(-0.5 * ((np.array(metres) - person.height) / SPREAD) ** 2)
    prior = density if shares is None else np.array([_arrays.positive("shares", share) for share in shares])
    if len(prior) != len(metres):
        raise MixfieldError(f"shares must hold one number per height ({len(metres)}), got {len(prior)}")
    if len(scene.cameras) != len(scene.views):
        raise MixfieldError("heights need the calibrations of the cameras, a scene of rectangles has none")
    feet = scene.ground.centres().reshape(-1, 2)
    people = [replace(person, height=height) for height in metres]
    views = [_with_sizes(view, one, feet, people) for view, one in zip(scene.views, scene.cameras, strict=True)]
    return replace(scene, views=tuple(views), heights=tuple((prior / prior.sum()).tolist()))


def _with_sizes(view: View, camera: Camera, feet: NDArray[np.float64], people: Sequence[Person]) -> View:
    """The view with the boxes of all ``people`` at ``feet`` (n, 2) where one of the usual size is visible."""
    corners = np.stack([camera.silhouettes(feet, person) for person in people], axis=1)
    seen = np.isfinite(corners).all((1, 2)) & view.visible
    sizes = np.where(seen[:, None, None], np.rint(np.clip(corners, -1e6, 1e6)), 0).astype(np.int32)
    return replace(view, sizes=sizes)
