"""The size of silhouettes in each view, from the masks of some frames.

Boxes are those of a cylinder; silhouettes are wider or narrower, by clothes, dilation, or the people of the place.  In
the local form of `Occupancy` an error of size in one view contradicts the others.  The margins of the boxes of a view,
in shares of their height, are fitted by expectation maximisation with hard assignments: the people of each frame are
those of the mean field, and the margins minimise

    sum_f sum_p w(p) |A_f(p) - B_f(p)|,

the mismatch of the silhouettes B with the boxes A of these people, by coordinate descent in steps of `STEP`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mixfield.energy.occupancy import Occupancy
from mixfield.scene.scene import Scene
from mixfield.scene.view import View
from mixfield.solvers.mean_field import mean_field

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Margins = tuple[float, float, float]  # sides, top, bottom

ROUNDS = 3  # of people given margins and margins given people
STEP = 0.02  # of the height of a person: less than a pixel of forty
LARGEST = 0.3  # margin, of the height of a person
SMALLEST = -0.1


def fit_silhouettes(scene: Scene, frames: Sequence[Sequence[ArrayLike]]) -> Scene:
    """The scene with boxes of the size of the silhouettes in ``frames``, each with one mask per view.

    The feet of a single view stay where they are: moving them is the same as moving the people.  If silhouettes are so
    much larger than boxes that the mean field explains one by two people, the fit does not recover.
    """
    margins: list[Margins] = [(0.0, 0.0, 0.0)] * len(scene.views)
    free = (0, 1, 2) if len(scene.views) > 1 else (0, 1)
    for _ in range(ROUNDS):
        energies = [Occupancy(_with_margins(scene, margins), masks) for masks in frames]
        people = [np.flatnonzero(mean_field(energy).marginals[..., 1].ravel() > 0.5) for energy in energies]
        for c, view in enumerate(scene.reduced_views):
            seen = [cells[view.visible[cells]] for cells in people]
            mismatch = Mismatch(view, seen, [energy.masks[c] for energy in energies])
            margins[c] = descend(mismatch, margins[c], free)
    return _with_margins(scene, margins)


@dataclass(frozen=True, eq=False)
class Mismatch:
    """The mismatch of the people at some cells with the silhouettes of a view, in areas of a person.

    Attributes
    ----------
    view : at the size of the masks.
    cells : of each frame the cells of its people.
    masks : (H, W) of each frame.
    """

    view: View
    cells: Sequence[Ints]
    masks: Sequence[Floats]

    def __call__(self, margins: Margins) -> float:
        boxes = self.view.grown(*margins).boxes
        weights = self.view.person_weights
        weights = weights if self.view.observed is None else weights * self.view.observed
        total = 0.0
        for cells, mask in zip(self.cells, self.masks, strict=True):
            covered = np.zeros(mask.shape, bool)
            for left, top, right, bottom in boxes[cells]:
                covered[top:bottom, left:right] = True
            total += float((weights * np.where(covered, 1.0 - mask, mask)).sum())
        return total


def descend(mismatch: Mismatch, margins: Margins, free: Sequence[int]) -> Margins:
    """Coordinate descent over the margins ``free``, in steps that lower the mismatch."""
    least, moved = mismatch(margins), True
    while moved:
        moved = False
        for k in free:
            for step in (STEP, -STEP):
                tried = _moved(margins, k, step)
                while SMALLEST <= tried[k] <= LARGEST and (value := mismatch(tried)) < least:
                    least, margins, moved = value, tried, True
                    tried = _moved(margins, k, step)
    return margins


def _moved(margins: Margins, k: int, step: float) -> Margins:
    sides, top, bottom = (round(value + step * (i == k), 9) for i, value in enumerate(margins))
    return sides, top, bottom


def _with_margins(scene: Scene, margins: Sequence[Margins]) -> Scene:
    return replace(scene, views=tuple(view.grown(*one) for view, one in zip(scene.views, margins, strict=True)))
