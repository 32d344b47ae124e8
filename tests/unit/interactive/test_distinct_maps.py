"""Equal label maps are one."""

from __future__ import annotations

import numpy as np
import pytest

from mixfield.interactive.distinct_maps import distinct_maps

A, B, C = (np.full((2, 3), k, np.uint8) for k in range(3))


@pytest.mark.parametrize(
    ("maps", "weights", "expected"),
    [
        ([A], [1.0], [(0, 1.0)]),
        ([A, B, A], [0.5, 0.3, 0.2], [(0, 0.7), (1, 0.3)]),
        ([A, B, C, C], [0.4, 0.35, 0.15, 0.1], [(0, 0.4), (1, 0.35), (2, 0.25)]),
        ([A, B, C, C], [0.4, 0.2, 0.2, 0.2], [(0, 0.4), (2, 0.4), (1, 0.2)]),
        ([A, B, B], [0.4, 0.3, 0.3], [(0, 0.4), (1, 0.6)]),  # the first stays the first
    ],
)
def test_weights_are_added(maps, weights, expected):
    found = list(distinct_maps(maps, np.array(weights)).items())
    assert [number for number, _ in found] == [number for number, _ in expected]
    assert [weight for _, weight in found] == pytest.approx([weight for _, weight in expected])
