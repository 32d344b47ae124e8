"""Colors of figures and pages."""

from __future__ import annotations

import itertools

import numpy as np

from mixfield.reports import palette


def test_label_colors_repeat_after_twenty():
    colors = palette.label_colors()
    assert colors.shape == (256, 3)
    assert tuple(colors[0]) == palette.BACKGROUND_LABEL
    np.testing.assert_array_equal(colors[1:21], palette.LABELS)
    np.testing.assert_array_equal(colors[21:41], palette.LABELS)


def test_the_ramp_goes_from_dark_to_bright():
    colors = palette.ramp(np.linspace(0, 1, 9))
    assert tuple(colors[0]) == palette.RAMP[0]
    assert tuple(colors[-1]) == palette.RAMP[-1]
    assert (np.diff(colors.astype(int).sum(-1)) > 0).all()


def test_colors_of_one_list_can_be_told_apart():
    for colors in (palette.LABELS, palette.MODES, palette.SCRIBBLES, palette.RAMP):
        for one, two in itertools.combinations(colors, 2):
            assert np.linalg.norm(np.subtract(one, two)) > 30


def test_hex():
    assert palette.hex_color((27, 0, 255)) == "#1b00ff"
