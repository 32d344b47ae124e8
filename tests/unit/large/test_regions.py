"""Regions: alternatives of neighbouring blocks become one question, chosen jointly."""

from __future__ import annotations

import numpy as np
import pytest
from local_questions import box, parts_of

from mixfield.large.regions import joined


def together(*answers):
    merged = {}
    for found in answers:
        for name, some in found.items():
            merged.setdefault(name, []).extend(some)
    return joined(merged)


def test_a_region_across_borders_is_one_question():
    region = box(slice(5, 20), slice(20, 80))
    (question,) = together(parts_of(region))
    assert question.blocks == ("00000_00000", "00000_00001", "00000_00002")
    assert question.pixels == region.sum()
    assert question.window == (slice(5, 20), slice(20, 80))
    assert question.region.all()
    assert question.complete


def test_regions_apart_or_with_other_labels_are_different_questions():
    left, right = box(slice(5, 20), slice(2, 12)), box(slice(5, 20), slice(70, 90))
    assert len(together(parts_of(left), parts_of(right))) == 2
    assert len(together(parts_of(left, new=1), parts_of(left, new=2))) == 2


def test_log_odds_are_means_weighted_by_pixels():
    region = box(slice(0, 10), slice(30, 36))  # 2 columns in the first block, 4 in the second
    (question,) = together(
        parts_of(region, probability=0.2, asking=(0,)), parts_of(region, probability=0.8, asking=(1,))
    )
    odds = (2 * np.log(0.2 / 0.8) + 4 * np.log(0.8 / 0.2)) / 6
    assert question.probability == pytest.approx(1 / (1 + np.exp(-odds)))


def test_a_region_that_the_neighbour_does_not_see_is_not_complete():
    region = box(slice(5, 20), slice(20, 80))
    (question,) = together(parts_of(region, probability=0.9, asking=(0,)))
    assert not question.complete
    assert not question.chosen


def test_of_overlapping_questions_the_most_probable_is_chosen():
    wide, narrow = box(slice(5, 20), slice(20, 60)), box(slice(8, 12), slice(30, 50))
    apart = box(slice(25, 30), slice(2, 9))
    found = together(
        parts_of(wide, new=1, probability=0.6),
        parts_of(narrow, new=2, probability=0.8),
        parts_of(apart, probability=0.3),
    )
    assert {(one.new, one.chosen) for one in found if one.probability > 0.5} == {(1, False), (2, True)}
    assert not any(one.chosen for one in found if one.probability < 0.5)


def test_the_order_of_blocks_does_not_matter():
    region = box(slice(5, 20), slice(20, 80))
    found = parts_of(region)
    forth, back = joined(found), joined(dict(reversed(found.items())))
    assert [one.blocks for one in forth] == [one.blocks for one in back]
    assert forth[0].probability == back[0].probability


def test_painting_a_window():
    region = box(slice(5, 20), slice(20, 80))
    (question,) = together(parts_of(region, new=3))
    labels = np.zeros((32, 32), np.uint8)
    for part in question.parts:
        part.paint(labels, (slice(0, 32), slice(32, 64)))
    np.testing.assert_array_equal(labels == 3, region[:, 32:64])
