"""How fields are cut into bands and parts."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import mixfield as mf
from mixfield.filters.bands import BAND_SIZE, BandSchedule
from mixfield.filters.buffers import Scratch
from mixfield.solvers.dense_update import DenseUpdate


@pytest.mark.parametrize(("n", "row"), [(1, 1), (7, 7), (12, 4), (130, 128), (500 * 375, 500), (4000 * 3000, 4000)])
@pytest.mark.parametrize("channels", [4, 24, 1000])
@pytest.mark.parametrize("wanted", [0, 3, 1000])
def test_bands_and_parts_cover_a_field(n, row, channels, wanted):
    schedule = BandSchedule.of(n, row, channels, wanted)
    for ranges, size in ((schedule.bands, n), (schedule.part_pixels, n), (schedule.parts, len(schedule.bands))):
        assert ranges[0][0] == 0
        assert ranges[-1][1] == size
        assert all(first < last for first, last in ranges)
        assert all(one[1] == other[0] for one, other in pairwise(ranges))
    assert all(first % row == 0 for first, _ in schedule.bands)
    assert len(schedule.parts) <= 4
    assert [schedule.part_of[band] for band, _ in schedule.parts] == list(range(len(schedule.parts)))
    assert schedule.largest == max(last - first for first, last in schedule.bands)
    assert schedule.largest * channels <= BAND_SIZE + row * channels


def test_large_lattices_are_splatted_in_fewer_parts():
    picture = np.random.default_rng(0).random((60, 80, 3)).astype(np.float32)
    few, many = (
        mf.DenseCRF(np.zeros((60, 80, 2)), [mf.Bilateral(picture, *widths)]) for widths in ((9.0, 0.05), (90.0, 9.0))
    )
    assert len(DenseUpdate(few, 1, threads=1).bank.schedule.parts) == 2
    assert len(DenseUpdate(many, 1, threads=1).bank.schedule.parts) == 4


def test_scratch_memory_is_borrowed_again():
    scratch = Scratch(3, 8)
    with scratch.borrow() as one, scratch.borrow() as other:
        assert one.shape == other.shape == (3, 8)
        assert not np.shares_memory(one, other)
    with scratch.borrow() as again:
        assert again is other or again is one
