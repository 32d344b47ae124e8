"""Regions of an image of three blocks, as its blocks describe them."""

from __future__ import annotations

import numpy as np

from mixfield.apps.blocks import blocks_of, grown
from mixfield.large.regions import Alternative

SHAPE, SIZE, REACH = (32, 96), (32, 32), 8


def parts_of(region, old=0, new=1, probability=0.4, asking=(0, 1, 2)):
    """What the three blocks of an image say of a region that they all see."""
    before = np.full(SHAPE, old)
    after = np.where(region, new, old)
    found = {}
    for number in asking:
        block = blocks_of(SHAPE, SIZE, 16)[number]
        reach = grown(block.core, REACH, SHAPE)
        if region[block.core].any():
            one = Alternative.of(region[reach], before[reach], after[reach], reach, block.core, probability)
            found.setdefault(block.name, []).append(one)
    return found


def box(rows, columns):
    region = np.zeros(SHAPE, bool)
    region[rows, columns] = True
    return region
