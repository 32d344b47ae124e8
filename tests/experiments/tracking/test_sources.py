"""The sequences in which people are tracked."""

from __future__ import annotations

import numpy as np

from experiments.people.pets import Pets
from experiments.tracking.sources import Recording, SyntheticWalk


def test_walk():
    problem = SyntheticWalk(seed=0, frames=6).load()
    assert len(problem.posteriors) == len(problem.single()) == len(problem.truth) == 6
    assert all(len(posterior.modes) == 1 for posterior in problem.single())
    for t, positions in problem.truth.items():
        assert len(positions) == len(problem.identities[t])


def test_detections_are_cells_that_count():
    problem = SyntheticWalk(seed=0, frames=3).load()
    first, *_ = problem.detections_by_mode()
    np.testing.assert_array_equal(first[0], problem.detections(problem.posteriors)[0])
    assert len(problem.detections_by_mode()) == max(len(posterior.modes) for posterior in problem.posteriors)
    problem.counted[:] = False
    assert all(len(found) == 0 for found in problem.detections(problem.posteriors).values())


def test_names(tmp_path):
    recording = Recording(Pets(tmp_path, (1, 8)), 30, tmp_path)
    assert recording.name == "PETS 2009 S2.L1, view 1 and 8, 30 frames"
    assert SyntheticWalk(0).name == SyntheticWalk(1).name
