"""Rows on alternatives: ratios, and how far weights can be believed."""

from __future__ import annotations

import numpy as np
import pytest

from experiments.interactive.offers import EXPONENTS, left_out_score, log_score, ratio
from mixfield.interactive.candidate_weights import OF_STROKES


def test_ratio_of_means():
    assert ratio([1, 2, 3], [2, 4, 6]) == "0.50 [0.50, 0.50]"


def test_log_score_above_equal_weights():
    state = {"ious": [0.2, 0.9], "weights": [0.25, 0.75]}
    assert log_score(state) == pytest.approx(np.log(1.5))
    assert log_score(state, 1e-9) == pytest.approx(0, abs=1e-6)
    sharper = np.array([0.25, 0.75]) ** 2
    assert log_score(state, 2) == pytest.approx(np.log(2 * sharper[1] / sharper.sum()))


def test_exponents_are_chosen_on_other_photographs():
    certain, wrong = {"ious": [0.9, 0.2], "weights": [0.8, 0.2]}, {"ious": [0.2, 0.9], "weights": [0.8, 0.2]}
    score, chosen = left_out_score({"right": [certain], "wrong": [wrong]})
    assert chosen == [min(EXPONENTS), max(EXPONENTS)]
    assert score == pytest.approx(
        (log_score(certain, chosen[0] / OF_STROKES.spread) + log_score(wrong, chosen[1] / OF_STROKES.spread)) / 2
    )
