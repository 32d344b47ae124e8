"""People from occupied cells, and when two pictures of them are the same."""

from __future__ import annotations

import numpy as np
import pytest

from mixfield.clamping.people import people

SHAPE = (10, 10)


def at(*cells):
    return people(np.array([10 * row + column for row, column in cells], np.int64), SHAPE, 2.0)


def test_close_cells_are_one_person():
    found = at((0, 0), (0, 1), (5, 5), (5, 7), (5, 9))
    assert found.owner.tolist() == [0, 0, 1, 1, 1]  # a chain of close cells, too
    np.testing.assert_allclose(found.places, [[0, 0.5], [5, 7]])


def test_nobody():
    nobody = at()
    assert len(nobody.owner) == len(nobody.places) == 0
    assert nobody.repeat(nobody, 1.0)
    assert not at((0, 0)).repeat(nobody, 1.0)
    assert not nobody.repeat(at((0, 0)), 1.0)


@pytest.mark.parametrize(
    ("now", "same"),
    [
        ([(0, 0), (5, 5)], True),
        ([(1, 0), (5, 5)], True),  # one cell aside
        ([(0, 0), (5, 5), (5, 6)], True),  # the same person in two cells
        ([(0, 0), (5, 8)], False),  # elsewhere
        ([(0, 0)], False),  # somebody left
        ([(0, 0), (5, 5), (9, 0)], False),  # somebody came
    ],
)
def test_repeat(now, same):
    assert at(*now).repeat(at((0, 0), (5, 5)), 2.0) is same


def test_a_person_in_fewer_cells_is_no_repeat():
    assert not at((0, 0)).repeat(at((0, 0), (0, 1)), 2.0)
