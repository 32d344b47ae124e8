"""Working memory: where arrays begin, and that memory in use is never handed out again."""

from __future__ import annotations

import gc

import numpy as np
import pytest

from mixfield.filters.buffers import BufferPool, Scratch, aligned_empty, aligned_zeros, channel_width


@pytest.mark.parametrize("shape", [(1, 4), (7, 3, 5), (1000, 24)])
def test_zeros_begin_at_a_cache_line(shape):
    values = aligned_zeros(*shape)
    assert values.shape == shape
    assert values.dtype == np.float32
    assert not values.any()
    assert values.ctypes.data % 64 == 0


def test_memory_in_use_is_not_handed_out_again():
    pool = BufferPool()
    first = aligned_empty(100, 8, pool=pool)
    first[:] = 1.0
    row = first[3]  # a view keeps the memory
    del first
    gc.collect()
    second = aligned_empty(100, 8, pool=pool)
    second[:] = 2.0
    assert (row == 1.0).all()


def test_memory_out_of_use_is_handed_out_again():
    pool = BufferPool()
    first = aligned_empty(100, 8, pool=pool)
    place = first.ctypes.data
    del first
    assert aligned_empty(100, 8, pool=pool).ctypes.data == place
    assert not aligned_zeros(90, 8, pool=pool).any()


def test_arrays_outlive_their_pool():
    pool = BufferPool()
    kept = aligned_zeros(50, 8, pool=pool)
    kept[:] = 3.0
    del pool
    gc.collect()
    others = [aligned_zeros(50, 8) for _ in range(20)]
    for other in others:
        other[:] = 7.0
    assert (kept == 3.0).all()


def test_channel_width():
    assert [channel_width(c) for c in (1, 4, 5, 8, 9, 16, 17, 24, 25)] == [4, 4, 8, 8, 16, 16, 24, 24, 32]


def test_scratch_memory_is_borrowed_again():
    scratch = Scratch(3, 8)
    with scratch.borrow() as one, scratch.borrow() as other:
        assert one.shape == other.shape == (3, 8)
        assert not np.shares_memory(one, other)
    with scratch.borrow() as again:
        assert again is other or again is one
