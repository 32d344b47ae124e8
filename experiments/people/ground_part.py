"""A part of the ground of a scene: tracks near one camera do not need the rest."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from mixfield.mixture import MixturePosterior
from mixfield.scene import Ground, Scene


@dataclass(frozen=True, eq=False)
class GroundPart:
    """A rectangle of the cells of a scene.

    Attributes
    ----------
    scene : with the ground, the boxes and the region of the rectangle.
    rows, columns : of the rectangle in the whole scene.
    """

    scene: Scene
    rows: slice
    columns: slice

    @staticmethod
    def around(scene: Scene, metres: float) -> GroundPart:
        """The rectangle around the region of a scene, and ``metres`` more on each side."""
        ground, more = scene.ground, round(metres / scene.ground.cell)
        sides = []
        for cells, end in zip(np.nonzero(scene.interest), ground.shape, strict=True):
            sides.append(slice(max(0, int(cells.min()) - more), min(end, int(cells.max()) + more + 1)))
        rows, columns = sides
        origin = (ground.origin[0] + columns.start * ground.cell, ground.origin[1] + rows.start * ground.cell)
        part = Ground((rows.stop - rows.start, columns.stop - columns.start), ground.cell, origin)
        inside = np.arange(ground.n).reshape(ground.shape)[rows, columns].ravel()
        views = tuple(replace(view, boxes=view.boxes[inside]) for view in scene.views)
        region = scene.interest[rows, columns]
        return GroundPart(replace(scene, ground=part, views=views, region=region), rows, columns)

    def of(self, posterior: MixturePosterior) -> MixturePosterior:
        """The marginals of a posterior of the whole scene in the rectangle, with the same weights."""
        modes = (replace(mode, marginals=mode.marginals[self.rows, self.columns]) for mode in posterior.modes)
        return replace(posterior, modes=tuple(modes))
