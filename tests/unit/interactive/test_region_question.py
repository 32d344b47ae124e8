"""The best question against a slow enumeration."""

from __future__ import annotations

import numpy as np
import pytest

from mixfield.interactive.region_graph import RegionGraph, adjacent, similar_pairs
from mixfield.interactive.region_question import best_candidate

#  a row of eight regions; the modes flip the pair at 1-2 and the single one at 6
REGIONS = np.repeat(np.repeat(np.arange(8)[None], 3, 0), 2, 1)
SIZES = np.full(8, 6.0)
GRAPH = RegionGraph(REGIONS, SIZES, np.zeros((8, 6)), *adjacent(REGIONS), similar_pairs(np.zeros((8, 6))))
MODES = np.array(
    [
        [0, 0, 0, 0, 0, 0, 0, 1],
        [0, 1, 1, 0, 0, 0, 0, 1],
        [0, 0, 0, 0, 0, 0, 1, 1],
        [0, 1, 1, 0, 0, 0, 1, 1],
    ]
)


def test_the_question_that_corrects_most():
    weights = np.array([0.4, 0.3, 0.2, 0.1])
    best = best_candidate(GRAPH, MODES, weights)
    assert best.members.tolist() == [1, 2]
    assert (best.old, best.new) == (0, 1)
    assert best.probability == pytest.approx(0.4)
    assert best.gain == pytest.approx(0.4 * 2 / 8)


def test_area_counts_against_doubt():
    best = best_candidate(GRAPH, MODES, np.array([0.55, 0.03, 0.37, 0.05]))  # 0.08 * 2 against 0.42 * 1
    assert best.members.tolist() == [6]
    assert best.probability == pytest.approx(0.42)


def test_nothing_is_asked_twice():
    weights = np.array([0.4, 0.3, 0.2, 0.1])
    asked = [np.isin(REGIONS, (1, 2))]
    assert best_candidate(GRAPH, MODES, weights, asked).members.tolist() == [6]
    assert best_candidate(GRAPH, MODES, weights, [*asked, REGIONS == 6]) is None


def test_no_doubt_no_question():
    assert best_candidate(GRAPH, MODES[:1], np.ones(1)) is None
    assert best_candidate(GRAPH, MODES, np.array([1.0, 0.0, 0.0, 0.0])) is None
