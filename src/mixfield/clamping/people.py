"""Who stands where: occupied cells as people, several close ones as one, and whether two pictures tell the same."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

Floats = NDArray[np.float64]
Int64s = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class People:
    """Occupied cells, and the people they belong to.

    Attributes
    ----------
    owner : (cells,) which person each occupied cell belongs to.
    places : (people, 2) mean row and column of the cells of each.
    """

    owner: Int64s
    places: Floats

    def repeat(self, other: People, distance: float) -> bool:
        """Whether everybody stands within ``distance`` of where the other has them, in no fewer cells."""
        if len(self.places) != len(other.places) or len(self.owner) < len(other.owner):
            return False
        away = np.linalg.norm(self.places[:, None] - other.places[None], axis=-1)
        return bool((away.min(0, initial=np.inf) <= distance).all() and (away.min(1, initial=np.inf) <= distance).all())


def people(occupied: Int64s, shape: tuple[int, ...], distance: float) -> People:
    """The people at some cells of a grid; cells within ``distance`` of each other belong to the same."""
    cells = np.stack(np.unravel_index(occupied, shape), axis=-1).astype(np.float64)
    near = np.linalg.norm(cells[:, None] - cells[None], axis=-1) <= distance
    count, owner = connected_components(near, directed=False)
    sums = np.zeros((count, len(shape)))
    np.add.at(sums, owner, cells)
    return People(owner.astype(np.int64), sums / np.bincount(owner, minlength=count)[:, None])
