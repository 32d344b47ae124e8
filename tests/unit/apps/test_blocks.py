"""Blocks: cores that partition the image, windows inside it, sizes that are refused."""

from __future__ import annotations

import numpy as np
import pytest

from mixfield.apps.blocks import STEP, block_size, blocks_of, grown, halo_of, intersection, relative
from mixfield.errors import MixfieldError


@pytest.mark.parametrize(("shape", "size"), [((50, 70), (16, 32)), ((16, 16), (32, 32)), ((20, 30, 40), (16, 16, 16))])
def test_cores_partition_the_image(shape, size):
    count = np.zeros(shape, int)
    for block in blocks_of(shape, size, 5):
        count[block.core] += 1
    assert (count == 1).all()


def test_outer_windows_have_the_halo_inside_the_image():
    blocks = blocks_of((48, 64), (16, 32), 8)
    middle = next(block for block in blocks if block.index == (1, 0))
    assert middle.outer == (slice(8, 40), slice(0, 40))
    assert middle.origin == (8, 0)
    assert middle.shape == (32, 40)
    assert middle.inside(middle.core) == (slice(8, 24), slice(0, 32))


def test_names_are_unique_and_sorted():
    names = [block.name for block in blocks_of((400, 400), (16, 16), 0)]
    assert sorted(set(names)) == names


def test_windows():
    assert grown((slice(2, 4),), 3, (6,)) == (slice(0, 6),)
    assert relative((slice(5, 7),), (slice(3, 9),)) == (slice(2, 4),)
    assert intersection((slice(0, 4),), (slice(3, 9),)) == (slice(3, 4),)
    assert intersection((slice(0, 4),), (slice(4, 9),)) is None


def test_the_halo_grows_with_the_largest_bandwidth():
    assert halo_of((3.0, 67.0)) == 208
    assert halo_of((3.0, 8.0)) == 32
    assert halo_of(()) == 0


def test_block_sizes():
    assert block_size(None, (5000, 5000)) == (1536, 1536)
    assert len(block_size(None, (500, 500, 500))) == 3
    assert block_size((32, 64), (100, 100)) == (32, 64)
    assert all(size % STEP == 0 for size in block_size(None, (500, 500, 500)))


@pytest.mark.parametrize("block", [0, -16, 100, (32,), (32, 32, 32)])
def test_wrong_blocks_are_refused(block):
    with pytest.raises(MixfieldError, match="multiples of 16"):
        block_size(block, (100, 100))
