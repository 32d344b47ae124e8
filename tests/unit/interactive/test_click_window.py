"""The pixels around a click that may change."""

from __future__ import annotations

import numpy as np
import pytest

from mixfield.interactive.click_window import NARROWEST, WIDEST, around, click_window
from mixfield.interactive.corrections import Correction

SHOWN = np.zeros((80, 100), np.int64)
SHOWN[20:60, 20:50] = 1


@pytest.mark.parametrize("place", [(0, 0), (79, 99), (40, 62), (0, 60)])
def test_the_window_of_a_click(place):
    window, depths, depth = click_window(Correction(*place, 1, SHOWN))
    row, column = window.place
    assert (window.rows.start + row, window.columns.start + column) == place
    assert window.inside[window.place]
    assert depths.shape == window.inside.shape
    assert depth == max(depths[window.place], 1)
    shown = SHOWN[window.rows, window.columns]
    nearest = min(_distances(shown == 1, window.place), min(place[0], 79 - place[0], place[1], 99 - place[1]) + 1)
    assert depth == pytest.approx(nearest)


def _distances(inside, place):
    return min((np.hypot(*(at - place)) for at in np.argwhere(inside)), default=np.inf)


def test_windows_grow_with_the_depth_of_the_click():
    wide = np.zeros((500, 500), np.int64)
    wide[:, 255:] = 1
    narrow, broad = (click_window(Correction(250, column, 1, wide))[0] for column in (254, 100))
    assert narrow.inside.shape == (2 * NARROWEST + 1, 2 * NARROWEST + 1)
    assert broad.inside.shape[0] == 2 * WIDEST + 1


def test_distances_and_the_index_of_the_window():
    window, _, _ = click_window(Correction(5, 90, 1, SHOWN))
    assert window.distances[window.place] == 0
    assert SHOWN[window.part].shape == window.inside.shape == window.distances.shape
    row, column = window.place
    assert window.distances[row + 3, column - 4] == 5


def test_only_pixels_that_are_connected_with_the_click_are_around_it():
    inside = np.zeros((5, 9), bool)
    inside[1:3, 1:3] = inside[3, 3] = inside[1:4, 6:8] = True
    found = around(inside, (1, 1))
    assert found.sum() == 5
    assert not found[:, 6:].any()
    assert around(inside, (0, 4)).sum() == 1
