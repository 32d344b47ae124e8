"""Label maps of candidates, and how far they agree."""

from __future__ import annotations

import numpy as np
import pytest

from mixfield.interactive.candidate_maps import candidate_maps, corrected, kept_labels, map_ious
from mixfield.interactive.canvas import Canvas
from mixfield.interactive.region_candidates import Candidate, LastAction, relabelled
from mixfield.interactive.region_field import region_field
from mixfield.interactive.representatives import mean_ious

pytest.importorskip("skimage")

IMAGE = np.random.default_rng(0).integers(0, 255, (30, 40, 3), np.uint8)
SHOWN = np.zeros(IMAGE.shape[:2], np.int64)
SHOWN[3:5, 3:5] = 1
PLACE, PIXELS = np.zeros(SHOWN.shape, bool), np.zeros(SHOWN.shape, bool)
PLACE[20, 20], PIXELS[19:22, 19:23] = True, True
LAST = LastAction(SHOWN, PLACE, 1)


def field_of(probs):
    return region_field(Canvas.of(IMAGE), np.where(PLACE, 1, -1), 2, probs=probs)


@pytest.mark.parametrize("with_scores", [True, False])
def test_with_scores_what_was_shown_is_kept_pixel_by_pixel(with_scores):
    field = field_of(np.full((*SHOWN.shape, 2), 0.5, np.float32) if with_scores else None)
    marginals = np.eye(2)[(field.seeds == 1).astype(int)]
    exact = Candidate(marginals, kept=True, exact=relabelled(LAST, PIXELS) if with_scores else None)
    found = [Candidate(marginals), Candidate(marginals, kept=True), exact]
    maps = candidate_maps(field, found, LAST)
    painted = marginals.argmax(1)[field.graph.regions]
    np.testing.assert_array_equal(maps[0], painted)
    assert (maps[1][SHOWN == 1] == 1).all() == with_scores
    assert np.array_equal(maps[2] == 1, (SHOWN == 1) | PIXELS) == with_scores
    np.testing.assert_array_equal(candidate_maps(field, found[1:], None)[0], painted)


def test_labels_that_are_kept():
    labels, marginals = np.ones_like(SHOWN), np.ones((1, 2))
    assert kept_labels(Candidate(marginals), LAST, labels) is labels
    np.testing.assert_array_equal(kept_labels(Candidate(marginals, kept=True), LAST, labels), labels)
    exact = kept_labels(Candidate(marginals, kept=True, exact=relabelled(LAST, PIXELS)), LAST, labels)
    np.testing.assert_array_equal(exact == 1, (SHOWN == 1) | PIXELS)


def test_agreement_is_that_of_all_pixels():
    maps = np.random.default_rng(1).integers(0, 2, (3, 5, 6))
    maps[:, :2] = 0
    maps[:, 2] = 3
    np.testing.assert_allclose(map_ious(maps), mean_ious(maps.reshape(3, -1), np.ones(30)))


def test_only_changes_that_touch_the_click_are_taken():
    labels = SHOWN.copy()
    labels[15:25, 12:30] = 1
    labels[5:10, 32:38] = 1
    labels[3, 3] = 0
    expected = SHOWN.copy()
    expected[15:25, 12:30] = 1
    np.testing.assert_array_equal(corrected(LAST, labels), expected)


def test_the_click_itself_is_taken_in_any_case():
    np.testing.assert_array_equal(np.argwhere(corrected(LAST, SHOWN) != SHOWN), [[20, 20]])
