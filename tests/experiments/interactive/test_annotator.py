"""Simulated annotators click where the answer is wrong."""

from __future__ import annotations

import numpy as np

from experiments.interactive.annotator import CarelessAnnotator, PerfectAnnotator, mark, no_strokes, wrong_regions
from experiments.interactive.photographs import OBJECT, VOID, object_iou

TRUTH = np.zeros((20, 30), np.int64)
TRUTH[5:16, 4:15] = OBJECT  # 11 x 11, the middle is (10, 9)
TRUTH[5:16, 15] = VOID


def test_the_first_click_is_the_middle_of_the_object():
    click = PerfectAnnotator().next_click(None, TRUTH)
    assert click == (10, 9, OBJECT, 3.0)


def test_then_the_middle_of_the_largest_wrong_region():
    labels = np.where(TRUTH == VOID, 1, TRUTH)
    labels[1:4, 20:29], labels[5, 4] = 1, 0
    click = PerfectAnnotator().next_click(labels, TRUTH)
    assert (click.row, click.label) == (2, 0)
    assert 21 <= click.column <= 27
    assert click.radius == 1.5
    marked = mark(no_strokes(TRUTH), click)
    assert set(np.unique(marked)) == {-1, 0}
    assert (labels[marked == 0] == 1).all()


def test_nothing_to_correct():
    assert PerfectAnnotator().next_click(TRUTH, TRUTH) is None
    assert CarelessAnnotator(np.random.default_rng(0)).next_click(TRUTH, TRUTH) is None


def test_regions_of_different_true_labels_are_different():
    labels = 1 - np.where(TRUTH == VOID, 0, TRUTH)
    regions, sizes = wrong_regions(labels, TRUTH)
    assert sorted(sizes) == [121, 20 * 30 - 121 - 11]
    assert (regions[TRUTH == VOID] == 0).all()


def test_careless_clicks_lie_in_wrong_regions():
    rng = np.random.default_rng(1)
    labels = np.zeros_like(TRUTH)
    places = {CarelessAnnotator(rng).next_click(labels, TRUTH)[:2] for _ in range(20)}
    assert len(places) > 5
    assert all(TRUTH[place] == OBJECT for place in places)


def test_object_iou():
    labels = np.where(TRUTH == VOID, 1, 0)
    labels[5:16, 4:9] = 1
    assert object_iou(labels, TRUTH) == 5 / 11
    assert object_iou(np.zeros_like(TRUTH), np.zeros_like(TRUTH)) == 1.0
