"""The rows of the table against brute force and known cases."""

from __future__ import annotations

import numpy as np
import pytest

from experiments.belief.diverse import best_strength, gains
from experiments.belief.table import above_diverse, area_under_curve, interval, ratio


def test_area_under_curve_counts_pairs():
    rng = np.random.default_rng(0)
    p, right = rng.integers(0, 5, 40) / 5, rng.integers(0, 2, 40).astype(float)
    pairs = [(a > b) + 0.5 * (a == b) for a in p[right == 1] for b in p[right == 0]]
    assert area_under_curve(p, right) == pytest.approx(np.mean(pairs))


def test_interval_holds_the_mean():
    assert interval([1.0, 1.0, 1.0]) == "+1.00 [+1.00, +1.00]"


def test_ratio_of_means():
    rows = [{"losses": {"a": 1.0, "b": 2.0}}, {"losses": {"a": 2.0, "b": 4.0}}]
    assert ratio(rows, "a", "b") == "0.500 [0.500, 0.500]"


def test_modes_are_compared_with_divmbest_at_its_best_on_common_images():
    diverse = [
        {"set": "voc", "image": "a", "ious": {"0.5": [50.0, 40.0, 60.0], "1": [50.0, 54.0, 20.0]}},
        {"set": "voc", "image": "b", "ious": {"0.5": [70.0, 60.0, 60.0], "1": [70.0, 74.0, 90.0]}},
    ]
    assert {strength: found.tolist() for strength, found in gains(diverse).items()} == {"0.5": [10, 0], "1": [4, 20]}
    rows = [
        {
            "set": "voc",
            "image": name,
            "deeplab_iou": 1.0,
            "deeplab_by_weight": [92.0],
            "ious": [80.0, 93.0],
            "eight_ious": [80.0, 93.0, 95.0],
        }
        for name in "bc"
    ]
    (name, former, ours), (_, _, endless) = above_diverse(rows, diverse)
    assert "DivMBest 1," in name
    assert "1 images" in name
    assert (former[:5], ours[:5], endless[:5]) == ("+2.00", "+3.00", "+5.00")


def test_a_strength_of_some_images_is_not_the_best():
    diverse = [
        {"ious": {"0.5": [50.0, 60.0], "2": [50.0, 90.0]}},
        {"ious": {"0.5": [50.0, 60.0]}},
    ]
    assert best_strength(diverse) == "0.5"
