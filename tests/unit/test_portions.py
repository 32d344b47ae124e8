"""How fields are cut into bands and parts."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import mixfield as mf
from mixfield.filters.bands import BAND, Portions
from mixfield.filters.buffers import Scratch


@pytest.mark.parametrize(("n", "row"), [(1, 1), (7, 7), (12, 4), (130, 128), (500 * 375, 500), (4000 * 3000, 4000)])
@pytest.mark.parametrize("channels", [4, 24, 1000])
@pytest.mark.parametrize("wanted", [0, 3, 1000])
def test_bands_and_parts_cover_a_field(n, row, channels, wanted):
    portions = Portions.of(n, row, channels, wanted)
    for ranges, size in ((portions.bands, n), (portions.pixels, n), (portions.parts, len(portions.bands))):
        assert ranges[0][0] == 0
        assert ranges[-1][1] == size
        assert all(first < last for first, last in ranges)
        assert all(one[1] == other[0] for one, other in pairwise(ranges))
    assert all(first % row == 0 for first, _ in portions.bands)
    assert len(portions.parts) <= 4
    assert [portions.part_of[band] for band, _ in portions.parts] == list(range(len(portions.parts)))
    assert portions.largest == max(last - first for first, last in portions.bands)
    assert portions.largest * channels <= BAND + row * channels


def test_large_lattices_are_collected_in_fewer_parts():
    picture = np.random.default_rng(0).random((60, 80, 3)).astype(np.float32)
    few, many = (
        mf.DenseCRF(np.zeros((60, 80, 2)), [mf.Bilateral(picture, *widths)]) for widths in ((9.0, 0.05), (90.0, 9.0))
    )
    assert len(few.portions(4).parts) == 2
    assert len(many.portions(4).parts) == 4


def test_scratch_memory_is_lent_again():
    scratch = Scratch(3, 8)
    with scratch.lent() as one, scratch.lent() as other:
        assert one.shape == other.shape == (3, 8)
        assert not np.shares_memory(one, other)
    with scratch.lent() as again:
        assert again is other or again is one
