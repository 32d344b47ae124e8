"""Bands and parts of a field."""

from __future__ import annotations

from itertools import pairwise

import pytest

from mixfield.filters.bands import BAND_SIZE, BandSchedule


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


def test_threads_share_bands_or_whole_parts():
    schedule = BandSchedule.of(500 * 375, 500, 24)
    assert schedule.shares(in_order=True) == schedule.parts
    assert schedule.shares(in_order=False) == tuple((band, band + 1) for band in range(len(schedule.bands)))
