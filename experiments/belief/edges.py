"""Straight edges of changed regions that the image does not have, by the definition of the table."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mixfield.apps.straight_edges import flat_pixels, has_straight_edge

SHORTEST = 12  # pixels of a run that counts, at every size of image


def straight_edge(changed: NDArray[np.bool_], image: NDArray[np.integer]) -> bool:
    """Whether the boundary of a changed region (H, W) has a straight run that the image (H, W, channels) does not."""
    return has_straight_edge(changed, flat_pixels(image.astype(np.float64)), SHORTEST)
