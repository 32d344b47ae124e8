"""Candidates of regions: modes, biased mean fields, and what was shown with one change."""

from __future__ import annotations

import numpy as np
import pytest

import mixfield as mf
from mixfield.interactive.canvas import Canvas
from mixfield.interactive.region_candidates import LastAction, _connected, bounds, candidates
from mixfield.interactive.region_field import region_field

pytest.importorskip("skimage")

IMAGE = np.random.default_rng(0).integers(60, 140, (40, 60, 3)).astype(np.uint8)  # unclear
IMAGE[10:30, 15:28] += 30
IMAGE[10:30, 34:48] += 25
STROKES = np.full(IMAGE.shape[:2], -1)
STROKES[20, 18:24] = 1
PLACE = np.zeros(IMAGE.shape[:2], bool)
PLACE[20, 20] = True


@pytest.fixture(scope="module")
def field():
    return region_field(Canvas.of(IMAGE), STROKES, 2)


def found_with(field, shown=None):
    last = None if shown is None else LastAction(shown, PLACE, 1)
    return candidates(field, [mf.mean_field(field.energy)], last)


def test_candidates_differ_and_keep_strokes(field):
    found = found_with(field, np.zeros(IMAGE.shape[:2], int))
    assert len({one.labels.tobytes() for one in found}) == len(found) > 2
    known = field.seeds >= 0
    for one in found:
        np.testing.assert_allclose(one.marginals.sum(1), 1)
        np.testing.assert_array_equal(one.labels[known], field.seeds[known])


def test_a_bias_changes_sizes(field):
    sizes = [field.graph.sizes[one.labels == 1].sum() for one in found_with(field)]
    assert max(sizes) > sizes[0]
    assert not any(one.extended or one.kept for one in found_with(field))


def test_bounds_are_those_of_the_field(field):
    mode = mf.mean_field(field.energy)
    np.testing.assert_allclose(bounds(field, found_with(field))[0], mode.log_z, rtol=1e-6)
    assert bounds(field, found_with(field)).max() <= mf.infer(field.energy, 1).log_z + 1e-6


def test_kept_candidates_change_one_region_of_what_was_shown(field):
    shown = np.zeros(IMAGE.shape[:2], int)
    shown[32:38, 2:20] = 1  # wrong by the evidence, but the annotator did not mind
    before = field.graph.majority(shown, field.active)
    kept = [one for one in found_with(field, shown) if one.kept]
    assert kept
    for one in kept:
        changed = _connected(field.graph.edges, np.where(one.labels != before, one.labels, -1))
        assert len(np.unique(changed[changed >= 0])) == 1
        assert (one.labels[changed >= 0] == 1).all()


def test_connected_sets_of_equal_labels():
    edges = np.array([[0, 1], [1, 2], [2, 3], [3, 4]])
    found = _connected(edges, np.array([1, 1, -1, 0, 1]))
    assert found[0] == found[1]
    assert found[2] == -1
    assert len({found[0], found[3], found[4]}) == 3


def test_a_label_that_is_not_considered_has_no_candidates():
    strokes = STROKES.copy()
    strokes[3, 5:50] = 0
    three = region_field(Canvas.of(IMAGE), strokes, 3)
    mode = mf.mean_field(three.energy)
    last = LastAction(np.zeros(IMAGE.shape[:2], int), PLACE, 2)
    assert len(candidates(three, [mode], last)) == len(candidates(three, [mode], None))


@pytest.mark.parametrize("seed", range(3))
def test_a_click_corrects_a_part_of_which_the_scores_are_certain(seed):
    shown, part = np.zeros((60, 90), int), np.s_[17:43, 32:58]
    shown[10:50, 20:70] = 1
    image = np.where(shown[..., None] == 1, (150, 110, 100), 200)
    image[part] = 90, 60, 50
    image += np.random.default_rng(seed).integers(-15, 16, image.shape)
    strokes = np.full(shown.shape, -1)
    strokes[29:32, 44:47] = 0
    probs = np.where(shown[..., None] == [0, 1], 0.999, 0.001).astype(np.float32)
    certain = region_field(Canvas.of(image.astype(np.uint8)), strokes, 2, probs=probs)
    found = candidates(certain, [mf.mean_field(certain.energy)], LastAction(shown, strokes >= 0, 0))
    truth = shown.copy()
    truth[part] = 0
    wrong = [(one.labels[certain.graph.regions] != truth).sum() for one in found]
    assert min(wrong) < 0.5 * (shown != truth).sum()


def test_pixels_that_may_change_become_a_candidate(field):
    shown, pixels = np.zeros(IMAGE.shape[:2], int), np.zeros(IMAGE.shape[:2], bool)
    pixels[8:32, 13:40] = True
    last = LastAction(shown, PLACE, 1)
    found = [one for one in candidates(field, [mf.mean_field(field.energy)], last, [pixels]) if one.exact is not None]
    assert [(one.kept, one.extended) for one in found] == [(True, True)]
    wanted = np.where(field.seeds >= 0, field.seeds, field.graph.majority(pixels.astype(int), np.arange(2)))
    np.testing.assert_array_equal(found[0].labels, wanted)
    assert not any(one.exact is not None for one in candidates(field, [mf.mean_field(field.energy)], None, [pixels]))
