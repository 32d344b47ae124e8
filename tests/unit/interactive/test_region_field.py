"""The Potts model over regions."""

from __future__ import annotations

import numpy as np
import pytest

from mixfield.interactive.canvas import Canvas
from mixfield.interactive.region_field import StrokeModel, active_labels, region_field, with_stand_ins

pytest.importorskip("skimage")

IMAGE = np.zeros((24, 36, 3), np.uint8)
IMAGE[6:18, 10:26] = (200, 40, 30)


def strokes(**marks):
    labels = np.full(IMAGE.shape[:2], -1)
    for label, (rows, columns) in enumerate(marks.values()):
        labels[rows, columns] = label
    return labels


BOTH = strokes(background=(2, slice(4, 30)), square=(12, slice(14, 22)))


def test_strokes_are_the_only_label_of_their_regions():
    field = region_field(Canvas.of(IMAGE), BOTH, 2)
    marked = BOTH >= 0
    allowed = field.energy.allowed[field.graph.regions[marked]]
    np.testing.assert_array_equal(allowed[np.arange(marked.sum()), BOTH[marked]], True)
    assert (allowed.sum(1) == 1).all()


def test_evidence_votes_and_scores_add_up():
    canvas = Canvas.of(IMAGE)
    plain = region_field(canvas, BOTH, 2)
    votes = np.zeros((*IMAGE.shape[:2], 2), np.float32)
    votes[..., 1] = 3.0
    voted = region_field(canvas, BOTH, 2, votes=votes)
    free = plain.seeds < 0
    np.testing.assert_allclose(voted.energy.unary[free, 1], plain.energy.unary[free, 1] - 3.0, atol=1e-5)
    np.testing.assert_allclose(voted.energy.unary[free, 0], plain.energy.unary[free, 0])
    probs = np.full((*IMAGE.shape[:2], 2), 0.5, np.float32)
    probs[..., 1], probs[..., 0] = 0.9, 0.1
    scored = region_field(canvas, BOTH, 2, probs=probs, model=StrokeModel(scores=2.0))
    rise = scored.energy.unary[free] - plain.energy.unary[free]
    np.testing.assert_allclose(rise[:, 0] - rise[:, 1], 2.0 * np.log(0.901 / 0.101), atol=1e-4)


def test_coupling_is_the_cost_of_a_border():
    canvas = Canvas.of(IMAGE)
    one, two = (region_field(canvas, BOTH, 2, model=StrokeModel(coupling=c)).energy for c in (0.1, 0.2))
    np.testing.assert_allclose(two.tables, 2 * one.tables)
    borders = region_field(canvas, BOTH, 2).graph.borders
    expected = 0.1 * borders / borders.mean()
    contrasts = region_field(canvas, BOTH, 2).graph.contrasts
    np.testing.assert_allclose(one.tables[:, 0, 1], expected * np.exp(1 - contrasts))


def test_strength_scales_the_evidence():
    canvas = Canvas.of(IMAGE)
    one, two = (region_field(canvas, BOTH, 2, model=StrokeModel(strength=s)) for s in (0.5, 1.0))
    free = one.seeds < 0
    np.testing.assert_allclose(two.energy.unary[free], 2 * one.energy.unary[free])


def test_only_labels_that_may_be_there_are_considered():
    seeds = np.array([3, -1, -1])
    assert active_labels(seeds, 5, None).tolist() == [0, 3]
    assert active_labels(np.array([0, -1]), 2, None).tolist() == [0, 1]
    assert active_labels(np.array([-1]), 1, None).tolist() == [0]
    probs = np.array([[0.5, 0.0, 0.4, 0.0, 0.1]] * 3)
    assert active_labels(seeds, 5, probs).tolist() == [0, 2, 3, 4]


def test_a_network_stands_in_for_labels_without_strokes():
    canvas = Canvas.of(IMAGE)
    field = region_field(canvas, np.full(IMAGE.shape[:2], -1), 3)
    probs = np.full((field.graph.n, 3), 0.05)
    probs[:, 0], probs[0], probs[1] = 0.9, (0.01, 0.98, 0.01), (0.3, 0.4, 0.3)
    seeds = np.full(field.graph.n, -1)
    seeds[5] = 2
    found, frame = with_stand_ins(field.graph, seeds, 3, probs)
    assert frame is None
    assert found[5] == 2
    assert found[0] == 1
    assert found[1] == -1
    assert 0 < field.graph.sizes[found == 0].sum() <= 0.1 * field.graph.sizes.sum()


def test_of_more_labels_the_border_stands_for_one_without_strokes():
    graph = region_field(Canvas.of(IMAGE), BOTH, 2).graph
    seeds = np.full(graph.n, -1)
    seeds[0], seeds[1] = 0, 2
    assert with_stand_ins(graph, seeds, 3, None)[1] == 1
    seeds[2] = 1
    assert with_stand_ins(graph, seeds, 3, None)[1] is None
