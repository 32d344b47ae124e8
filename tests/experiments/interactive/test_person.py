"""A person who chooses the best action."""

from __future__ import annotations

import numpy as np
import pytest

from experiments.interactive import person
from experiments.interactive.annotator import PerfectAnnotator
from experiments.interactive.photographs import StrokedPhoto, object_iou

pytest.importorskip("skimage")


def photo(scores=None):
    truth = np.zeros((40, 60), np.int64)
    truth[10:30, 15:45] = 1
    image = np.where(truth[..., None] == 1, [200, 60, 40], [40, 90, 160]).astype(np.uint8)
    return StrokedPhoto("drawn", image, truth, {}, scores)


@pytest.mark.parametrize("offers", [False, True])
def test_a_person_stops_when_the_answer_is_good(offers):
    states = list(person.with_modes(photo(), PerfectAnnotator(), offers=offers))
    assert states[0]["iou"] == 0
    assert all(state["iou"] < person.WANTED for state in states[:-1])
    assert states[-1]["iou"] >= person.WANTED
    assert person.actions_to_wanted(states)[0] == "click"
    assert ("ious" in states[1]) == offers


@pytest.mark.parametrize("refined", [False, True])
def test_scores_are_where_the_controls_start(refined):
    half = np.zeros((40, 60, 2), np.float32)
    half[..., 1] = 0.1
    half[10:30, 15:30, 1] = 0.8
    half[..., 0] = 1 - half[..., 1]
    states = list(person.without_modes(photo(half), PerfectAnnotator(), refined=refined))
    assert states[0]["iou"] == object_iou(half.argmax(-1), photo().truth) == 0.5
    assert states[-1]["iou"] > 0.5


def test_seconds_and_failures():
    reached = [{"iou": 0.1}, {"iou": 0.5, "did": "click"}, {"iou": 0.95, "did": "choice"}, {"iou": 1.0, "did": "click"}]
    assert person.seconds_to_wanted(reached, person.SECONDS) == pytest.approx(1.4)
    assert person.seconds_to_wanted(reached[:2], person.SECONDS) == person.MOST


def test_the_option_with_the_best_rate():
    assert person.Option("choice", 1, 40).rate == pytest.approx(100)
    before, after = np.array([0, 0, 1, 1]), np.array([1, 0, 0, 1])
    assert person._corrected(before, after, np.array([1, 0, 255, 0])) == 1
