"""Posteriors of an uncertain detector: calibrated, seeded, with known truth."""

from __future__ import annotations

import numpy as np
import pytest

from experiments.tracking.doubts import doubtful_walk
from mixfield.errors import MixfieldError


def test_truth_and_posteriors_have_the_same_frames():
    walk = doubtful_walk(5, shape=(10, 12), cell=0.5, people=3, rng=0)
    assert len(walk.posteriors) == 5
    assert walk.posteriors[0].shape == walk.ground.shape == (10, 12)
    assert walk.truth["frame"].tolist() == np.repeat(range(5), 3).tolist()
    assert (walk.truth["x"] < 6.0).all()
    assert (walk.truth["y"] < 5.0).all()
    steps = np.diff(walk.truth["x"].reshape(5, 3), axis=0), np.diff(walk.truth["y"].reshape(5, 3), axis=0)
    assert np.hypot(*steps).max() <= 0.7 * 0.5 + 1e-9


def test_there_is_a_mode_for_each_combination_of_answers():
    walk = doubtful_walk(40, doubts=2, rng=1)
    counts = {len(posterior.modes) for posterior in walk.posteriors}
    assert counts == {1, 2, 4}
    assert {len(p.modes) for p in doubtful_walk(10, doubts=0).posteriors} == {1}


def test_the_heaviest_mode_is_as_often_right_as_its_weight():
    """At clarity 1.5 three in four of the more probable answers are right; 5 standard errors of 900 questions."""
    walk = doubtful_walk(900, shape=(8, 8), people=1, doubts=1, rng=0)
    cells = np.floor(np.stack([walk.truth["y"], walk.truth["x"]], axis=1) / walk.ground.cell).astype(int)
    right, weights = [], []
    for posterior, cell in zip(walk.posteriors, cells, strict=True):
        if len(posterior.modes) == 2:
            first, second = (mode.marginals[..., 1] for mode in posterior.modes)
            asked = np.unravel_index(np.abs(first - second).argmax(), first.shape)
            right.append((first[asked] > 0.5) == (tuple(cell) == asked))
            weights.append(posterior.weights[0])
    error = 5 * 0.5 / np.sqrt(len(right))
    assert np.mean(right) == pytest.approx(np.mean(weights), abs=error)
    assert np.mean(right) == pytest.approx(0.77, abs=error)


def test_seeds_and_options_change_the_answer():
    first = doubtful_walk(4, rng=0)
    same = doubtful_walk(4, rng=0)
    assert first.truth.tobytes() == same.truth.tobytes()
    for options in ({"rng": 1}, {"people": 3}, {"cell": 1.0}):
        assert doubtful_walk(4, **options).truth.tobytes() != first.truth.tobytes()
    for options in ({"clarity": 5.0}, {"clamped": 0.1}):
        other = doubtful_walk(4, **options)
        assert any(
            a.log_z != b.log_z or not np.array_equal(a.marginals(), b.marginals())
            for a, b in zip(first.posteriors, other.posteriors, strict=True)
        )


@pytest.mark.parametrize("options", [{"frames": 0}, {"people": -1}, {"doubts": -1}])
def test_wrong_input(options):
    with pytest.raises(MixfieldError, match=next(iter(options))):
        doubtful_walk(**options)
