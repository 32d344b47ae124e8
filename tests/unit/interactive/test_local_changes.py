"""What a click changes around it, pixel by pixel."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from scipy.ndimage import label

from mixfield.interactive import local_changes as tested
from mixfield.interactive.canvas import Canvas
from mixfield.interactive.corrections import Correction
from mixfield.interactive.local_changes import local_changes
from mixfield.interactive.local_model import default_model
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


def test_other_levels_have_other_sets(prepared):
    large, small = local_changes(*prepared, SCORES, [CLICK], levels=(-3.0, 3.0))
    assert small.sum() < large.sum()


def test_another_model_has_other_sets(prepared):
    model = default_model()
    certain = replace(model, output_bias=np.float32(100))
    window = local_changes(*prepared, SCORES, [CLICK], (0.0,), certain)[0]
    assert window.sum() > local_changes(*prepared, SCORES, [CLICK], (0.0,))[0].sum()
    np.testing.assert_array_equal(
        local_changes(*prepared, SCORES, [CLICK], model=model), local_changes(*prepared, SCORES, [CLICK])
    )
