"""Bounding boxes of people in a view."""

from __future__ import annotations

import numpy as np
import pytest

from mixfield.errors import MixfieldError
from mixfield.scene.view import View


def test_boxes_are_clipped_and_empty_ones_are_not_visible():
    view = View(10, 8, np.array([[-3, 2, 4, 20], [12, 0, 15, 5], [3, 3, 3, 5], [1, 1, 2, 2]]))
    assert view.boxes.tolist() == [[0, 2, 4, 8], [0, 0, 0, 0], [0, 0, 0, 0], [1, 1, 2, 2]]
    assert view.visible.tolist() == [True, False, False, True]


def test_corners_are_indices_in_the_grid_of_edges():
    rng = np.random.default_rng(0)
    low = rng.integers(0, 20, (30, 2))
    view = View(30, 30, np.concatenate([low, low + rng.integers(0, 10, (30, 2))], axis=1))
    rows, columns = view.edges
    y, x = np.divmod(view.corners[:, 0].astype(int), len(columns))
    left, top, right, bottom = view.boxes[view.visible].T
    np.testing.assert_array_equal(rows[y], np.stack([top, top, bottom, bottom], axis=1))
    np.testing.assert_array_equal(columns[x], np.stack([left, right, left, right], axis=1))


def test_size_of_a_person():
    view = View(20, 10, np.array([[0, 0, 4, 5], [0, 0, 2, 8], [0, 0, 2, 3], [0, 0, 0, 0]]))
    assert view.person_height() == 5
    assert view.person_share() == 16 / 200
    nothing = View(20, 10, np.zeros((2, 4), int))
    assert (nothing.person_height(), nothing.person_share()) == (0.0, 0.0)
    assert [len(edge) for edge in nothing.edges] == [2, 2]


def test_a_reduced_view_keeps_visible_cells_visible():
    view = View(21, 9, np.array([[0, 0, 8, 8], [4, 4, 5, 5], [0, 0, 0, 0]]))
    small = view.reduced(4)
    assert (small.width, small.height) == (6, 3)
    assert small.boxes[0].tolist() == [0, 0, 2, 2]
    assert small.visible.tolist() == view.visible.tolist()
    assert view.reduced(1).boxes.tolist() == view.boxes.tolist()


def test_wrong_boxes_are_named():
    with pytest.raises(MixfieldError, match=r"\(n, 4\) integers"):
        View(5, 5, np.zeros((3, 4)))
    with pytest.raises(MixfieldError, match="width"):
        View(0, 5, np.zeros((3, 4), int))


def test_weights_are_one_over_the_area_of_a_person():
    view = View(12, 6, np.array([[0, 0, 4, 4], [2, 0, 4, 2], [0, 0, 0, 0]]))
    expected = np.zeros((6, 12))
    expected[:4, :4] = 1 / 16
    expected[:2, 2:4] = 1 / np.sqrt(16 * 4)  # in both boxes
    np.testing.assert_allclose(view.person_weights, expected)
    assert not View(12, 6, np.zeros((2, 4), int)).person_weights.any()


def test_observed_pixels_are_reduced_and_checked():
    observed = np.ones((4, 6))
    observed[:2, :3] = 0.0
    view = View(6, 4, np.array([[0, 0, 2, 2]]), observed=observed)
    np.testing.assert_allclose(view.reduced(2).observed, [[0, 0.5, 1], [1, 1, 1]])
    with pytest.raises(MixfieldError, match="observed must have shape"):
        View(6, 4, np.array([[0, 0, 2, 2]]), observed=np.ones((3, 6)))
    with pytest.raises(MixfieldError, match="shares in"):
        View(6, 4, np.array([[0, 0, 2, 2]]), observed=observed + 1)


def test_grown_boxes_have_margins_in_shares_of_their_height():
    view = View(100, 100, np.array([[40, 30, 50, 50], [0, 0, 0, 0]]))
    grown = view.grown(0.1, 0.25, -0.05)
    np.testing.assert_array_equal(grown.boxes, [[38, 25, 52, 49], [0, 0, 0, 0]])
    np.testing.assert_array_equal(view.grown(0, 0, 0).boxes, view.boxes)


def test_boxes_of_several_heights_change_together():
    """Clipped, reduced and grown like the boxes; a cell where the smallest person is not visible is hidden."""
    boxes = np.array([[2, 2, 6, 10], [4, 0, 8, 8], [0, 0, 4, 4]])
    sizes = np.stack([boxes + np.array([0, 2, 0, 0]), boxes - np.array([0, 4, 0, 0])], axis=1)
    sizes[2, 0] = 0
    view = View(20, 12, boxes, sizes=sizes)
    assert view.visible.tolist() == [True, True, False]
    assert view.sizes.tolist() == [[[2, 4, 6, 10], [2, 0, 6, 10]], [[4, 2, 8, 8], [4, 0, 8, 8]], [[0] * 4] * 2]
    rows, columns = view.edges
    assert rows.tolist() == [0, 2, 4, 8, 10]
    y, x = np.divmod(view.corners.astype(int), len(columns))
    left, top, right, bottom = np.moveaxis(view.sizes[:2], -1, 0)
    np.testing.assert_array_equal(rows[y], np.stack([top, top, bottom, bottom], axis=-1))
    np.testing.assert_array_equal(columns[x], np.stack([left, right, left, right], axis=-1))
    for changed, alone in ((view.reduced(2), 2), (view.grown(0.25, 0.0, 0.0), None)):
        for h in range(2):
            one = View(20, 12, view.sizes[:, h])
            expected = (
                one.reduced(alone).boxes if alone else view.sizes[:, h] + np.array([[-2, 0, 2, 0]] * 2 + [[0] * 4])
            )
            np.testing.assert_array_equal(changed.sizes[:, h], expected)
    assert view.person_weights[0, 3] > 0.0  # only the taller person is there


def test_weights_are_those_of_people_of_all_heights():
    view = View(12, 6, np.array([[0, 2, 4, 6]]), sizes=np.array([[[0, 2, 4, 6], [0, 0, 4, 6]]]))
    expected = np.zeros((6, 12))
    expected[:2, :4], expected[2:, :4] = 1 / 24, 1 / np.sqrt(16 * 24)
    np.testing.assert_allclose(view.person_weights, expected)
