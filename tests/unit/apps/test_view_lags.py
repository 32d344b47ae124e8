"""Views that are late, also displaced on the ground: known lags are found again."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from rooms import seen

import mixfield as mf
from mixfield.apps import fit_lags, synchronise
from mixfield.errors import MixfieldError

LATE, OFFSET = 2, (1, -2)


@pytest.fixture(scope="module")
def room():
    return mf.datasets.walking_people(0, 2, 1, setting="easy").scene


@pytest.fixture(scope="module")
def late(room):
    """Masks of three people, elsewhere in each frame; those of the second view come `LATE` frames late."""
    rng, both = np.random.default_rng(2), np.flatnonzero(room.views[0].visible & room.views[1].visible)
    masks = [seen(room, rng.choice(both, 3, False)) for _ in range(12)]
    return synchronise(masks, (0, -LATE))


def displaced(room):
    """The room whose second view has the boxes of each cell ``OFFSET`` further."""
    boxes = np.roll(room.views[1].boxes.reshape(*room.ground.shape, 4), OFFSET, (0, 1)).reshape(-1, 4)
    return replace(room, views=(room.views[0], replace(room.views[1], boxes=boxes)))


def test_the_lag_of_a_view_is_found(room, late):
    assert fit_lags(room, late) == (0, LATE)


def test_the_lag_of_a_view_with_an_error_of_calibration_is_found(room, late):
    assert fit_lags(displaced(room), late) == (0, LATE)


def test_synchronised_views_have_none(room, late):
    assert fit_lags(room, synchronise(late, (0, LATE))[:-LATE]) == (0, 0)


def test_lags_are_looked_for_up_to_the_longest(room, late):
    assert abs(fit_lags(room, late, longest=LATE - 1)[1]) < LATE


def test_moments_at_the_ends_have_the_nearest_frame():
    frames = [["a0", "b0"], ["a1", "b1"], ["a2", "b2"]]
    assert synchronise(frames, (0, 1)) == [["a0", "b1"], ["a1", "b2"], ["a2", "b2"]]
    assert synchronise(frames, (0, -2)) == [["a0", "b0"], ["a1", "b0"], ["a2", "b0"]]


def test_too_few_frames_are_refused(room, late):
    with pytest.raises(MixfieldError, match="more successive frames than longest = 3, got 3"):
        fit_lags(room, late[:3])
