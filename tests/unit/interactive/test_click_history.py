"""What earlier clicks say about the pixels around the last one."""

from __future__ import annotations

import numpy as np

from mixfield.interactive.click_history import FARTHEST, NO_CHANGE, history_features
from mixfield.interactive.click_window import click_window
from mixfield.interactive.corrections import Correction

FIRST = np.zeros((60, 80), np.int64)
FIRST[20:40, 20:30] = 1
SECOND = FIRST.copy()
SECOND[20:40, 30:50] = 1
THIRD = SECOND.copy()
THIRD[30:40, 40:50] = 0
CLICKS = [Correction(30, 40, 1, FIRST), Correction(35, 45, 0, SECOND), Correction(34, 44, 1, THIRD)]


def history(clicks):
    window = click_window(clicks[-1])[0]
    maps = []
    for one in history_features(window, clicks):
        whole = np.full(FIRST.shape, np.nan)
        whole[window.part] = one
        maps.append(whole)
    return maps


def test_what_was_shown_before():
    ever, age, alike, first, first_there, *_ = history(CLICKS)
    assert ever[35, 45] == 1
    assert ever[50, 45] == 0
    np.testing.assert_allclose(age[[35, 22, 50], [45, 45, 45]], np.log1p([0, 1, 2]) - np.log(3))
    assert alike[38, 48] == 1
    assert alike[50, 45] == 0
    np.testing.assert_array_equal(np.nan_to_num(first), FIRST * np.isfinite(first))
    assert np.nanmax(first_there) == 0


def test_where_other_clicks_lie():
    *_, others, alikes, _ = history(CLICKS)
    assert others[35, 45] < 0 < others[30, 20]
    assert alikes[30, 40] < 0
    assert others[35, 45] < alikes[35, 45]


def test_how_much_the_click_before_changed():
    assert np.nanmax(history(CLICKS)[-1]) == np.log(120 / FIRST.size)


def test_the_first_click_has_no_history():
    ever, age, alike, _, _, others, alikes, change = history(CLICKS[:1])
    assert np.nanmax(ever) == np.nanmax(np.abs(age)) == 0
    assert np.nanmin(alike) == 1
    assert np.nanmin(others) == np.nanmin(alikes) == FARTHEST
    assert np.nanmax(change) == NO_CHANGE
