"""Straight edges count where the image is flat, and not at its border."""

from __future__ import annotations

import numpy as np
import pytest

from experiments.belief.edges import straight_edge

NOISE = np.random.default_rng(0).integers(0, 255, (40, 50, 3))


def _image(flat_rows: slice) -> np.ndarray:
    image = NOISE.copy()
    image[flat_rows] = 100
    return image


@pytest.mark.parametrize(
    ("rows", "columns", "flat", "expected"),
    [
        (slice(10, 20), slice(5, 30), slice(8, 22), True),
        (slice(10, 20), slice(5, 12), slice(8, 22), False),  # too short both ways
        (slice(10, 20), slice(5, 30), slice(30, 40), False),  # the image is not flat there
        (slice(0, 8), slice(0, 50), slice(0, 4), False),  # at the border of the image
    ],
)
def test_rectangles(rows, columns, flat, expected):
    changed = np.zeros((40, 50), bool)
    changed[rows, columns] = True
    assert straight_edge(changed, _image(flat)) is expected
    assert straight_edge(changed.T, _image(flat).transpose(1, 0, 2)) is expected
