"""Strokes are drawn as the pixels near their line; votes add up."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from mixfield.interactive.annotation_actions import (
    ANSWER,
    CHOICE,
    ERASED,
    Answer,
    Choice,
    Stroke,
    answered,
    canvas_shapes,
    corrections,
    label_type,
    last_action,
    painted,
    voted,
)

SHAPE = (12, 16)
POINTS = st.lists(st.tuples(st.floats(-5, 20), st.floats(-5, 20)), min_size=1, max_size=4)


def near(points, radius):
    """Slowly: pixels within the radius of densely sampled points."""
    covered = np.zeros(SHAPE, bool)
    for (x0, y0), (x1, y1) in zip(points, points[1:] or points, strict=False):
        for t in np.linspace(0, 1, 400):
            x, y = x0 + t * (x1 - x0), y0 + t * (y1 - y0)
            rows, columns = np.mgrid[: SHAPE[0], : SHAPE[1]]
            covered |= (rows - y) ** 2 + (columns - x) ** 2 <= radius**2
    return covered


@given(POINTS, st.floats(0.5, 4))
def test_pixels_near_the_line(points, radius):
    found = painted([Stroke(tuple(points), 2, radius)], SHAPE) == 2
    assert not (near(points, radius) & ~found).any()
    assert not (found & ~near(points, radius + 0.1)).any()


def test_later_strokes_cover_and_erase():
    line = ((2.0, 5.0), (12.0, 5.0))
    found = painted([Stroke(line, 0, 1.0), Stroke(((5.0, 5.0),), 1, 1.0), Stroke(((10.0, 5.0),), ERASED, 1.0)], SHAPE)
    assert found[5, 2] == 0
    assert found[5, 5] == 1
    assert found[5, 10] == -1


def test_votes():
    region = np.zeros(SHAPE, bool)
    region[2, 3] = True
    labels = np.ones(SHAPE, np.int64)
    actions = [
        Answer(region, 0, labels),
        Choice(labels.astype(np.uint8), region, labels),
        Stroke(((1.0, 1.0),), 0, 1.0),
    ]
    votes = voted(actions, SHAPE, 2)
    np.testing.assert_allclose(votes[2, 3], [ANSWER, CHOICE])
    assert votes.sum() == ANSWER + CHOICE
    assert voted(actions[2:], SHAPE, 2) is None


def test_label_type():
    assert label_type(256) == np.uint8
    assert label_type(257) == np.uint16


def test_corrections_are_clicks_on_what_was_shown():
    shown = np.zeros((6, 8), np.int64)
    clicks = [
        Stroke(((5.0, 3.0),), 1, 1.0, shown),
        Stroke(((12.0, 9.0),), 0, 1.0, shown),
        Stroke(((1.0, 1.0),), 1, 1.0),
    ]
    strokes = painted(clicks, SHAPE)[::2, ::2]
    strokes[1, 2], strokes[4, 6] = 1, ERASED  # the second was erased since
    (found,) = corrections(clicks, strokes, 2)
    assert (found.row, found.column, found.label) == (1, 2, 1)
    assert last_action(clicks, strokes, 2) is None
    last = last_action(clicks[:1], strokes, 2)
    assert np.argwhere(last.place).tolist() == [[1, 2]]
    region = np.ones((6, 8), bool)
    assert last_action([*clicks, Answer(region, 0, shown)], strokes, 2).place is region
    assert canvas_shapes(clicks) == {(6, 8)}


def test_answers_stand_until_something_else_is_said():
    left, middle = np.zeros((2, *SHAPE), bool)
    left[:, :6], middle[:, 4:9] = True, True
    shown, strokes = np.zeros(SHAPE, np.int64), np.full(SHAPE, -1)
    labels = answered([Answer(left, 1, shown), Answer(middle, 2, shown)], strokes)
    assert labels[3].tolist() == [1] * 4 + [2] * 5 + [-1] * 7
    strokes[2, 1] = 1  # says the same
    strokes[2, 8] = 0
    assert answered([Answer(left, 1, shown), Answer(middle, 2, shown)], strokes)[3].tolist() == [1] * 6 + [-1] * 10
