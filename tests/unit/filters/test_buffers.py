"""Working memory: where arrays begin, and that memory in use is never handed out again."""

from __future__ import annotations

import gc
import itertools
import sys

import numpy as np
import pytest
from concurrency import in_threads

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
    others = [np.empty(size, np.uint8) for size in (3264, 4096) for _ in range(8)]  # would take it if it were free
    assert aligned_empty(100, 8, pool=pool).ctypes.data == place
    assert len(others) == 16
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


def test_scratch_memory_comes_back_after_an_error():
    scratch = Scratch(3, 8)
    with pytest.raises(RuntimeError), scratch.borrow() as memory:
        raise RuntimeError
    with scratch.borrow() as again:
        assert again is memory


def _exchange(pool, rng, rounds=300, most=6):
    """Allocate and free arrays in random order; every array keeps its own number while it lives."""
    alive = []
    for number in range(rounds):
        if alive and (len(alive) == most or rng.random() < 0.5):
            array, own = alive.pop(rng.integers(len(alive)))
            assert (array == own).all()
            del array
        array = aligned_empty(int(rng.integers(1, 200)), 8, pool=pool)
        own = float(number + rng.random())
        array[:] = own
        alive.append((array, np.float32(own)))
    assert all((array == own).all() for array, own in alive)
    return alive


def test_no_two_live_arrays_share_memory():
    pool = BufferPool()
    alive = [array for array, _ in _exchange(pool, np.random.default_rng(0))]
    assert len(alive) > 3
    assert not any(np.shares_memory(a, b) for a, b in itertools.combinations(alive, 2))


def test_blocks_are_used_again_rather_than_allocated():
    pool, places = BufferPool(), set()
    for rows in [90, 100, 110, 95] * 25:  # of one power of two
        places.add(aligned_empty(rows, 8, pool=pool).ctypes.data // 8192)
    assert len(places) <= 2


def test_threads_share_a_pool():
    """Worker threads take their scratch memory from it; here the interpreter changes threads as often as it can."""
    interval, pool = sys.getswitchinterval(), BufferPool()
    sys.setswitchinterval(1e-6)
    try:
        seeds = itertools.count()
        in_threads(lambda: _exchange(pool, np.random.default_rng(next(seeds)), rounds=2000))
    finally:
        sys.setswitchinterval(interval)


@pytest.mark.parametrize("shape", [(1 << 10, 8), (1 << 20, 9)])
def test_zeros_of_any_size_are_zero(shape):
    """Large ones come from the operating system, small ones are cleared, those of a pool have been used before."""
    pool = BufferPool()
    aligned_empty(*shape, pool=pool)[:] = 5.0
    for zeros in (aligned_zeros(*shape), aligned_zeros(*shape, pool=pool)):
        assert zeros.shape == shape
        assert not zeros.any()
