"""What follows from actions: different maps, pooled weights, each computed once."""

from __future__ import annotations

import numpy as np
import pytest
from annotating import doubtful_click, photograph
from small_images import two_patches

from mixfield.apps import annotation_state
from mixfield.apps.annotation_state import LOOKED_FOR, AnnotationState
from mixfield.interactive.annotation_actions import Stroke
from mixfield.interactive.canvas import Canvas
from mixfield.interactive.region_modes import pixel_labels

pytest.importorskip("skimage")


@pytest.fixture
def doubtful():
    image, scores = two_patches()
    return AnnotationState(Canvas.of(image), 2, scores.astype(np.float32), [])


def clicked(canvas):
    return AnnotationState(canvas, 2, None, [Stroke((doubtful_click(),), 1, 3.0)])


@pytest.mark.parametrize("n", [1, 2, 4, 6])
def test_suggestions_are_the_different_maps_with_their_weights_pooled(n):
    canvas = Canvas.of(photograph())
    state = clicked(canvas)
    modes = state.modes(n)
    pooled = {}
    for k, weight in enumerate(modes.weights):
        labels = pixel_labels(canvas, modes, k, state.strokes)
        pooled[labels.tobytes()] = pooled.get(labels.tobytes(), 0) + weight
    found = state.suggestions(n)
    assert len(found) == min(n, len(pooled))
    weights = np.array([pooled.pop(one.labels.tobytes()) for one in found])  # each once
    np.testing.assert_allclose([one.weight for one in found], weights / weights.sum())
    assert (np.diff(weights[1:]) <= 0).all()
    if n <= LOOKED_FOR:
        np.testing.assert_array_equal(found[0].labels, state.labels)
    for one in found:
        np.testing.assert_array_equal(one.differs, one.labels != found[0].labels)


def test_maps_that_are_the_same_are_one():
    image = np.zeros((40, 60, 3), np.uint8)
    image[10:30, 20:40] = 200
    state = AnnotationState(Canvas.of(image), 2, None, [Stroke(((30, 20),), 1, 3.0)])
    assert len(state.modes(4).chosen) > 1  # they differ in regions without a border in the image
    (only,) = state.suggestions(4)
    assert only.weight == pytest.approx(1)
    assert not only.differs.any()


def test_each_map_is_computed_once(doubtful, monkeypatch):
    computed = []

    def counted(canvas, found, k, strokes):
        computed.append(k)
        return pixel_labels(canvas, found, k, strokes)

    monkeypatch.setattr(annotation_state, "pixel_labels", counted)
    first = doubtful.labels
    assert computed == [0]
    assert doubtful.suggestions(4)[0].labels is first
    doubtful.suggestions(2)
    doubtful.choice(1, 4)
    assert computed == list(range(len(doubtful.modes(4).chosen)))


def test_a_choice_votes_where_the_suggestions_differ(doubtful):
    suggestions = doubtful.suggestions(4)
    assert len(suggestions) > 1
    for k, wanted in enumerate(suggestions):
        choice = doubtful.choice(k, 4)
        np.testing.assert_array_equal(choice.labels, wanted.labels)
        assert (choice.differ & wanted.differs).sum() >= 0.8 * wanted.differs.sum()
        assert (choice.reduced == choice.labels)[choice.differ].mean() > 0.9


def test_nothing_is_known_without_actions_and_scores():
    state = AnnotationState(Canvas.of(photograph()), 300, None, [])
    assert state.is_blank
    (only,) = state.suggestions(4)
    assert (only.weight, only.differs.any(), only.labels.any()) == (1.0, False, False)
    assert only.labels.dtype == np.uint16
    assert not state.choice(0, 4).differ.any()
