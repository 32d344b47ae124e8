"""Blobs of foreground masks, and which of them have the size of a person: whether masks show people at all."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mixfield.io import opencv
from mixfield.scene.view import View

SHORTEST, TALLEST = 0.5, 1.5  # of the height of a person in the view; people hide one another and join
LEAST_AREA = 0.2  # of the box of a person: a silhouette fills about half of it
SMALLEST = 10  # percentile of the people of a view that counts as the smallest; boxes at the border are cut
SPECK = 8  # pixels: smaller blobs are noise


@dataclass(frozen=True)
class Blobs:
    """Number of connected components of a mask, and of those with the size of a person."""

    count: int
    people: int


def blobs(mask: NDArray[np.generic], view: View) -> Blobs:
    """Count the blobs of a mask (H, W), nonzero where foreground, of a view."""
    foreground = (np.asarray(mask) > 0).astype(np.uint8)
    foreground = foreground if foreground.ndim == 2 else foreground.max(-1)
    _, _, stats, _ = opencv.library().connectedComponentsWithStats(foreground, connectivity=8)
    columns, heights, area = stats[1:, 2], stats[1:, 3], stats[1:, 4]  # the first component is the background
    boxes = view.boxes[view.visible]
    if len(boxes) == 0:
        return Blobs(int((area >= SPECK).sum()), 0)
    tall, wide = boxes[:, 3] - boxes[:, 1], boxes[:, 2] - boxes[:, 0]
    least_height, least_area = np.percentile(tall, SMALLEST), np.percentile(tall * wide, SMALLEST)
    like_a_person = (heights >= SHORTEST * least_height) & (area >= LEAST_AREA * least_area)
    not_a_wall = (heights <= TALLEST * tall.max()) & (columns <= view.width / 2)
    return Blobs(int((area >= SPECK).sum()), int((like_a_person & not_a_wall).sum()))
