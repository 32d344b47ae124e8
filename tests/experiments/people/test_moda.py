"""MODA over the distance threshold."""

from __future__ import annotations

import numpy as np

from experiments.people.moda import THRESHOLDS, moda_curve


def test_curve_takes_the_best_candidate_of_each_frame_at_each_threshold():
    truth = {0: np.array([[0.0, 0.0]]), 1: np.array([[5.0, 5.0]])}
    near, far = {0: np.array([[0.0, 0.4]]), 1: np.empty((0, 2))}, {0: np.array([[0.0, 1.1]]), 1: truth[1]}
    curve = moda_curve(truth, [near, far])
    assert [point["threshold"] for point in curve] == list(THRESHOLDS)
    assert [point["moda"] for point in curve] == [0.0] + [1.0] * 7  # 0.25 m: both candidates of frame 0 are wrong
    assert [point["misses"] for point in moda_curve(truth, [near])] == [2] + [1] * 7
