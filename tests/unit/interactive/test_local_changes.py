"""What a click changes around it, pixel by pixel."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy.ndimage import label

from mixfield.interactive import local_changes as tested
from mixfield.interactive.canvas import Canvas
from mixfield.interactive.corrections import Correction
from mixfield.interactive.local_changes import click_window, corrected, local_changes, local_features, relabelled
from mixfield.interactive.region_candidates import LastAction
from mixfield.interactive.region_field import region_field

pytest.importorskip("skimage")

IMAGE = np.full((80, 100, 3), 40, np.uint8)
IMAGE[20:60, 20:50] = (200, 60, 50)  # two parts of an object, of which the scores miss the second
IMAGE[30:50, 50:75] = (60, 60, 210)
SHOWN = np.zeros(IMAGE.shape[:2], np.int64)
SHOWN[20:60, 20:50] = 1
SCORES = np.stack([1 - 0.8 * SHOWN - 0.1, 0.8 * SHOWN + 0.1], -1).astype(np.float32)
CLICK = Correction(40, 62, 1, SHOWN)


@pytest.fixture(scope="module")
def prepared():
    canvas = Canvas.of(IMAGE).refined(SHOWN)
    strokes = np.full(SHOWN.shape, -1)
    strokes[39:42, 61:64] = 1
    return canvas, region_field(canvas, strokes, 2, probs=SCORES)


def test_a_missed_part_is_found_pixel_by_pixel(prepared):
    found = local_changes(*prepared, SCORES, [CLICK])
    missed = np.zeros(SHOWN.shape, bool)
    missed[30:50, 50:75] = True
    assert max((one & missed).sum() / (one | missed).sum() for one in found) > 0.85


def test_changes_are_nested_connected_and_were_shown_otherwise(prepared):
    found = local_changes(*prepared, SCORES, [CLICK])
    assert len(found) == len(tested.LEVELS)
    for one, smaller in pairwise(found):
        assert (smaller <= one).all()
    for one in found:
        assert one[40, 62]
        assert label(one, np.ones((3, 3)))[1] == 1
        assert (SHOWN[one] == 0).all()


def test_features_are_finite_and_have_weights(prepared):
    window, features = local_features(*prepared, SCORES, [CLICK])
    assert features.shape == (*window.inside.shape, len(tested.WEIGHTS) - 1)
    assert np.isfinite(features).all()


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


def test_only_changes_that_touch_the_click_are_taken():
    last = LastAction(SHOWN, _pixel(40, 62), 1)
    labels = SHOWN.copy()
    labels[35:45, 55:70] = 1
    labels[5:10, 80:90] = 1
    labels[22:25, 25:30] = 0
    expected = SHOWN.copy()
    expected[35:45, 55:70] = 1
    np.testing.assert_array_equal(corrected(last, labels), expected)


def test_the_click_itself_is_taken_in_any_case():
    last = LastAction(SHOWN, _pixel(40, 62), 1)
    np.testing.assert_array_equal(np.argwhere(corrected(last, SHOWN) != SHOWN), [[40, 62]])


def test_relabelled_pixels():
    last = LastAction(SHOWN.astype(np.uint8), _pixel(40, 62), 1)
    found = relabelled(last, _pixel(1, 2))
    assert found.dtype == np.uint8
    np.testing.assert_array_equal(np.argwhere(found != SHOWN), [[1, 2]])


def _pixel(row, column):
    place = np.zeros(SHOWN.shape, bool)
    place[row, column] = True
    return place
