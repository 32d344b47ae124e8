"""Greedy colouring equals its plain-loop twin; also run without the compiler."""

from __future__ import annotations

import naive
import numpy as np
import pytest

from mixfield.kernels import coloring

pytestmark = pytest.mark.interpreted


def test_color():
    rng = np.random.default_rng(10)
    for n in [0, 1, 2, 12]:
        adjacent = np.triu(rng.random((n, n)) < 0.4, 1)
        adjacent |= adjacent.T
        neighbours = [np.flatnonzero(row) for row in adjacent]
        start = np.concatenate([[0], np.cumsum([len(x) for x in neighbours], dtype=np.int64)]).astype(np.int64)
        out = np.zeros(n, np.int32)
        flat = np.concatenate([np.zeros(0, np.int32), *neighbours]).astype(np.int32)
        coloring.color(start, flat, out)
        assert out.tolist() == naive.color(neighbours)
        assert not any(out[i] == out[j] for i, j in np.argwhere(adjacent))
