"""Straight edges of changed regions that the image does not have: the mark of a window that became an object."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Bools = NDArray[np.bool_]

SHORTEST = 12  # pixels of a run that counts


def straight_edge(changed: Bools, image: NDArray[np.integer]) -> bool:
    """Whether the boundary of a changed region (H, W) has a straight run that the image (H, W, channels) does not.

    A run is `SHORTEST` or more pixels of the region in succession on one row or column, whose neighbours on one side
    are outside, and at which the magnitude of the image's gradient is below its median.  The border of the image is no
    boundary.
    """
    gradient = np.hypot(*np.gradient(image.astype(np.float64).mean(-1)))
    flat = gradient < np.median(gradient)
    return _runs_along_rows(changed, flat) or _runs_along_rows(changed.T, flat.T)


def _runs_along_rows(region: Bools, flat: Bools) -> bool:
    above, below = np.ones_like(region), np.ones_like(region)
    above[1:], below[:-1] = region[:-1], region[1:]
    return any(_has_run(region & ~beside & flat) for beside in (above, below))


def _has_run(hits: Bools) -> bool:
    """Whether a row has `SHORTEST` hits in succession."""
    total = np.cumsum(np.pad(hits.astype(np.int64), ((0, 0), (1, 0))), axis=1)
    return bool((total[:, SHORTEST:] - total[:, :-SHORTEST] == SHORTEST).any())
