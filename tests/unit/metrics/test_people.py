"""MODA and MODP: by hand on small frames, against brute-force matching, and their options."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import mixfield as mf
from mixfield import metrics
from mixfield.errors import MixfieldError

A = [(0.0, 0.0), (4.0, 0.0)]


def test_by_hand():
    score = metrics.total(metrics.detection_scores([A, A], [[(0.0, 0.5), (9.0, 9.0)], []], 1.0))
    assert (score.truths, score.matches, score.misses, score.false_positives) == (4, 1, 3, 1)
    assert score.moda == pytest.approx(1 - 4 / 4)
    assert score.modp == pytest.approx(0.5)
    assert (score.recall, score.precision) == (0.25, 0.5)
    assert mf.metrics.moda([A], [A], 1.0) == mf.metrics.modp([A], [A], 1.0) == 1.0


def test_moda_may_be_negative_and_nan_without_truth():
    assert metrics.moda([[(0.0, 0.0)]], [[(5.0, 5.0)] * 3], 1.0) == -3.0
    assert np.isnan(metrics.moda([[]], [[(1.0, 1.0)]], 1.0))
    assert np.isnan(metrics.modp([A], [[]], 1.0))


def test_strict_leaves_out_the_threshold_itself():
    assert metrics.moda([[(0.0, 0.0)]], [[(1.0, 0.0)]], 1.0) == 1.0
    assert metrics.moda([[(0.0, 0.0)]], [[(1.0, 0.0)]], 1.0, strict=True) == -1.0


def test_only_detected_makes_missed_frames_free():
    truth, found = {0: A, 1: A}, {0: A}
    assert metrics.moda(truth, found, 1.0) == 0.5
    assert metrics.moda(truth, found, 1.0, only_detected=True) == 1.0


def test_frames_of_either_side_count():
    assert metrics.moda({0: A}, {0: A, 7: [(1.0, 1.0)]}, 1.0) == 0.5


@pytest.mark.parametrize("seed", range(20))
def test_matching_is_optimal(seed):
    """Most matches, and the shortest of those, by trying every one-to-one matching."""
    rng = np.random.default_rng(seed)
    truth, found = rng.uniform(0, 3, (rng.integers(0, 5), 2)), rng.uniform(0, 3, (rng.integers(0, 5), 2))
    distance = np.linalg.norm(truth[:, None] - found[None], axis=-1)
    best = (0, 0.0)
    for size in range(1, min(len(truth), len(found)) + 1):
        for rows in itertools.combinations(range(len(truth)), size):
            for columns in itertools.permutations(range(len(found)), size):
                lengths = distance[rows, columns]
                if (lengths <= 1.0).all():
                    best = max(best, (size, -lengths.sum()))
    score = metrics.detection_scores([truth], [found], 1.0)[0]
    assert score.matches == best[0]
    assert score.closeness == pytest.approx(best[0] + best[1])


def test_best_of_takes_the_frame_with_fewest_mistakes():
    good, bad = metrics.DetectionScore(2, 2, 0, 1.0), metrics.DetectionScore(2, 1, 3, 0.5)
    assert metrics.best_detections([[good, bad], [bad, good]]) == [good, good]


def test_bootstrap_surrounds_the_score():
    rng = np.random.default_rng(0)
    scores = [metrics.DetectionScore(5, 5 - k, 0, 0.0) for k in rng.integers(0, 3, 200)]
    low, high = metrics.bootstrap(scores)
    assert low < metrics.total(scores).moda < high
    assert high - low < 0.1
    assert metrics.bootstrap(scores) == (low, high)
    with pytest.raises(MixfieldError, match="at least one frame"):
        metrics.bootstrap([])


@pytest.mark.parametrize(
    ("truth", "found", "complaint"),
    [
        ([A], [A, A], "same number of frames, got 1 and 2"),
        ({0: A}, [A], "both be mappings"),
        ([[(0.0, 0.0, 0.0)]], [A], r"truth of frame 0 must be finite positions \(k, 2\)"),
        ([A], [[(np.nan, 0.0)]], "detections of frame 0"),
    ],
)
def test_bad_input(truth, found, complaint):
    with pytest.raises(MixfieldError, match=complaint):
        metrics.moda(truth, found, 1.0)
    with pytest.raises(MixfieldError, match="threshold"):
        metrics.moda([A], [A], 0.0)
