"""Images side by side, drawn by Pillow."""

from __future__ import annotations

import numpy as np

from mixfield.reports.panels import GAP, KEY_HEIGHT, KEY_SIDE, MIN_WIDTH, NOTE_SIZE, SIDE, Key, Panel, compose


def test_panels_are_scaled_and_in_rows():
    picture = np.zeros((19, 38, 3), np.uint8)
    picture[:, 19:] = (200, 10, 20)
    page = np.asarray(compose([Panel(f"title {k}", "note", picture) for k in range(3)], columns=2))
    assert page.shape[1] == GAP + 2 * (SIDE + GAP)
    red = (page == (200, 10, 20)).all(-1)
    assert red.sum() == 3 * 190 * 190  # pixels are repeated, 10 x 10 times


def test_narrow_panels_leave_space_for_their_title():
    page = compose([Panel("a", "b", np.zeros((100, 10, 3), np.uint8))], columns=1)
    assert page.size[0] == GAP + MIN_WIDTH + GAP


def test_marks_and_keys_have_their_colors():
    picture = np.full((4, 4, 3), 255, np.uint8)
    plain, marked = (compose([Panel("a", "b", picture, mark)], columns=1) for mark in (None, (1, 2, 3)))
    assert (1, 2, 3) not in {color for _, color in plain.getcolors(1 << 20)}
    assert (1, 2, 3) in {color for _, color in marked.getcolors(1 << 20)}
    keyed = compose([Panel("a", "b", picture)], columns=1, keys=[Key((4, 5, 6), "label")])
    assert keyed.size[1] == plain.size[1] + KEY_HEIGHT
    assert max(KEY_SIDE, NOTE_SIZE) < KEY_HEIGHT  # rows of the legend do not overlap
    assert (4, 5, 6) in {color for _, color in keyed.getcolors(1 << 20)}
