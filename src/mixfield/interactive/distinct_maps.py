"""Label maps that differ, of several that may be the same."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from mixfield.interactive.annotation_actions import Labels


def distinct_maps(maps: Sequence[Labels], weights: NDArray[np.float64]) -> dict[int, float]:
    """Numbers of the different maps, each with the weight of all that are the same.

    The first map stays the first, whatever the others weigh together: it is shown before they are known.  The others
    follow by weight.
    """
    first = [next(j for j, other in enumerate(maps) if np.array_equal(one, other)) for one in maps]
    pooled = np.bincount(first, weights)
    order = sorted(set(first), key=lambda number: (number != 0, -pooled[number]))
    return {number: float(pooled[number]) for number in order}
