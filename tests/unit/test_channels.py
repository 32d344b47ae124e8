"""Room for channels: where it begins, and that nobody is given what somebody still uses."""

from __future__ import annotations

import gc

import numpy as np
import pytest

from mixfield.filters.buffers import padded, reused, room, space


@pytest.mark.parametrize("shape", [(1, 4), (7, 3, 5), (1000, 24)])
def test_room_is_zero_and_begins_with_a_cache_line(shape):
    values = room(*shape)
    assert values.shape == shape
    assert values.dtype == np.float32
    assert not values.any()
    assert values.ctypes.data % 64 == 0


def test_memory_in_use_is_not_given_out_again():
    with reused():
        first = space(100, 8)
        first[:] = 1.0
        row = first[3]  # a view keeps it
        del first
        gc.collect()
        second = space(100, 8)
        second[:] = 2.0
        assert (row == 1.0).all()


def test_memory_that_nobody_uses_is_given_out_again():
    with reused():
        first = space(100, 8)
        place = first.ctypes.data
        del first
        assert space(100, 8).ctypes.data == place
        assert not room(90, 8).any()


def test_what_was_made_within_stays_when_it_is_over():
    with reused():
        kept = room(50, 8)
        kept[:] = 3.0
    del_me = [room(50, 8) for _ in range(20)]
    for one in del_me:
        one[:] = 7.0
    assert (kept == 3.0).all()


def test_padding():
    assert [padded(c) for c in (1, 4, 5, 8, 9, 16, 17, 24, 25)] == [4, 4, 8, 8, 16, 16, 24, 24, 32]
