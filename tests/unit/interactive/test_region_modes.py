"""Modes of regions, and their pixels."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from mixfield.interactive import region_modes as tested
from mixfield.interactive.candidate_weights import OF_CORRECTIONS, OF_SCORE_CORRECTIONS, OF_SCORES, OF_STROKES
from mixfield.interactive.canvas import Canvas
from mixfield.interactive.corrections import Correction
from mixfield.interactive.region_candidates import LastAction
from mixfield.interactive.region_field import region_field
from mixfield.interactive.region_modes import pixel_labels, pixel_marginals, region_modes

pytest.importorskip("skimage")

IMAGE = np.zeros((40, 60, 3), np.uint8)
IMAGE[10:30, 15:28], IMAGE[10:30, 34:48] = (190, 60, 50), (180, 70, 60)
STROKES = np.full(IMAGE.shape[:2], -1)
STROKES[20, 18:24], STROKES[3, 5:50] = 1, 0


@pytest.fixture(scope="module")
def found():
    canvas = Canvas.of(IMAGE)
    return canvas, region_modes(region_field(canvas, STROKES, 2), 3)


def test_weights_and_order(found):
    _, modes = found
    assert 1 <= len(modes.chosen) <= 3
    np.testing.assert_allclose(modes.weights.sum(), 1)
    assert (np.diff(modes.weights) <= 1e-12).all()
    maps = {modes.labeling(k).tobytes() for k in range(len(modes.chosen))}
    assert len(maps) == len(modes.chosen)


def test_pixels_of_strokes_are_certain(found):
    canvas, modes = found
    for k in range(len(modes.chosen)):
        probs = pixel_marginals(canvas, modes.field, modes.marginals(k), STROKES)
        np.testing.assert_allclose(probs.sum(-1), 1, atol=1e-5)
        assert probs.min() >= 0
        np.testing.assert_array_equal(pixel_labels(canvas, modes, k, STROKES)[STROKES >= 0], STROKES[STROKES >= 0])
    assert pixel_labels(canvas, modes, 0, STROKES)[20, 20] == 1


def test_labels_are_the_largest_marginals(found):
    canvas, modes = found
    for k in range(len(modes.chosen)):
        probs = pixel_marginals(canvas, modes.field, modes.marginals(k), STROKES)
        clear = np.abs(probs[..., 0] - 0.5) > 1e-4
        labels = pixel_labels(canvas, modes, k, STROKES)
        assert labels.dtype == np.uint8
        np.testing.assert_array_equal(labels[clear], probs.argmax(-1)[clear])


def test_labels_are_those_of_the_strokes():
    canvas, strokes = Canvas.of(IMAGE), np.where(STROKES == 1, 7, np.where(STROKES == 0, 3, -1))
    labels = pixel_labels(canvas, region_modes(region_field(canvas, strokes, 9), 1), 0, strokes)
    assert set(np.unique(labels)) == {3, 7}
    only = np.where(STROKES == 1, 0, -1)
    assert not pixel_labels(canvas, region_modes(region_field(canvas, only, 1), 1), 0, only).any()


def test_same_seed_same_modes(found):
    canvas, modes = found
    again = region_modes(region_field(canvas, STROKES, 2), 3)
    np.testing.assert_array_equal(again.weights, modes.weights)


@pytest.mark.parametrize("label", [0, 1])
def test_labelings_that_contradict_answers_are_left_out(found, label):
    _, modes = found
    answered = np.full(IMAGE.shape[:2], -1)
    answered[12:28, 36:46] = label  # the second object has no stroke
    last = LastAction(np.full(IMAGE.shape[:2], 1 - label), answered >= 0, label)
    again = region_modes(modes.field, 3, last=last, answered=answered)
    for k in range(len(again.chosen)):
        labels = again.labeling(k)[modes.field.graph.regions]
        assert (labels == answered)[answered >= 0].mean() > 0.8
    nothing = region_modes(modes.field, 3, answered=np.full_like(answered, -1))
    np.testing.assert_array_equal(nothing.weights, modes.weights)


def test_progress_counts_the_modes_that_are_returned():
    seen = []
    region_modes(region_field(Canvas.of(IMAGE), STROKES, 2), 2, progress=seen.append)
    assert max(seen, default=0) <= 2


def corrected_modes(probs):
    """What was shown has a speck that no superpixel has; a click corrects something else."""
    shown, place, pixels = (np.zeros(IMAGE.shape[:2], kind) for kind in (np.int64, bool, bool))
    shown[10:30, 15:28], shown[2:4, 52:55] = 1, 1
    place[20, 40], pixels[10:29, 34:47] = True, True
    strokes, last = np.where(place, 1, -1), LastAction(shown, place, 1)
    canvas = Canvas.of(IMAGE)
    field = region_field(canvas, strokes, 2, probs=probs)
    local = [] if probs is None else [pixels]
    modes = region_modes(field, 30, corrections=[Correction(20, 40, 1, shown)], last=last, local=local)
    several = {k: modes.candidates[one] for k, one in enumerate(modes.chosen)}
    return shown, several, {k: pixel_labels(canvas, modes, k, strokes) for k, one in several.items() if one.kept}


def test_with_scores_what_was_shown_is_kept_pixel_by_pixel():
    shown, several, maps = corrected_modes(np.full((*IMAGE.shape[:2], 2), 0.5, np.float32))
    assert len(maps) > 1
    for k, labels in maps.items():
        assert (labels[shown == 1] == 1).all()
        assert labels[20, 40] == 1
        if several[k].exact is not None:
            np.testing.assert_array_equal(labels, several[k].exact)


def test_without_scores_what_was_shown_follows_the_image():
    _, _, maps = corrected_modes(None)
    assert maps
    assert all((labels[2:4, 52:55] == 0).any() for labels in maps.values())


MODELS = {
    (False, False): OF_STROKES,
    (False, True): OF_CORRECTIONS,
    (True, False): OF_SCORES,
    (True, True): OF_SCORE_CORRECTIONS,
}


@pytest.mark.parametrize(("scores", "clicked"), MODELS)
def test_weights_are_flattened_by_how_much_is_known(monkeypatch, scores, clicked):
    model = MODELS[scores, clicked]
    shown, strokes = np.zeros(IMAGE.shape[:2], np.int64), np.where(np.indices(IMAGE.shape[:2])[1] == 20, STROKES, -1)
    probs = np.full((*shown.shape, 2), 0.5, np.float32) if scores else None
    field = region_field(Canvas.of(IMAGE), strokes, 2, probs=probs)
    clicks = [Correction(20, 20, 1, shown)] if clicked else []
    flat = region_modes(field, 4, corrections=clicks)
    monkeypatch.setattr(tested, "candidate_model", lambda **_: replace(model, spread=1.0))
    sharp = region_modes(field, 4, corrections=clicks)
    assert len(flat.chosen) > 1
    np.testing.assert_array_equal(flat.chosen, sharp.chosen)
    expected = sharp.weights**model.spread
    np.testing.assert_allclose(flat.weights, expected / expected.sum())
