"""What the pages on people share: the recording and its annotations, and MODA over the distance threshold."""

from __future__ import annotations

import numpy as np
import pytest

from experiments import pets
from experiments.people import THRESHOLDS, moda_curve
from experiments.tracking import WAYS, Walked, measure


def test_curve_takes_the_best_candidate_of_each_frame_at_each_threshold():
    truth = {0: np.array([[0.0, 0.0]]), 1: np.array([[5.0, 5.0]])}
    near, far = {0: np.array([[0.0, 0.4]]), 1: np.empty((0, 2))}, {0: np.array([[0.0, 1.1]]), 1: truth[1]}
    curve = moda_curve(truth, [near, far])
    assert [point["threshold"] for point in curve] == list(THRESHOLDS)
    assert [point["moda"] for point in curve] == [0.0] + [1.0] * 7  # 0.25 m: both candidates of frame 0 are wrong
    assert [point["misses"] for point in moda_curve(truth, [near])] == [2] + [1] * 7


def test_annotated_people_stand_in_the_area(data):
    people = pets.Pets(data / "people" / "pets09-s2l1").people([0, 399])
    for identity, feet in people.values():
        assert len(identity) == len(feet) > 0
        assert (feet >= pets.AREA[:2]).all()
        assert (feet <= pets.AREA[2:]).all()


@pytest.mark.parametrize("way", WAYS)
def test_every_way_on_a_short_walk(way):
    row = measure(Walked(seed=0, frames=6), way)
    assert row["way"] == way
    assert ("tracks" in row) == ("KSP" in way)
    assert row.get("tracks", {}).get("violations", 0) == 0
    assert row["curve"][-1]["moda"] > 0.5
