"""Public data with known answers: the POM program's own sample, and the WILDTRACK evaluation."""

from __future__ import annotations

import numpy as np
import pytest

import mixfield as mf
from mixfield.io import pom
from mixfield.io.scene_file import read_footage

pytest.importorskip("cv2")


# where the program stops at its limit, so do we
@pytest.mark.filterwarnings("ignore::mixfield.errors.NotConvergedWarning")
@pytest.mark.parametrize(("ignored", "answers"), [(1.0, "expected_ignore1"), (0.99, "expected")])
def test_the_answers_of_the_pom_program(data, ignored, answers):
    """Every cell of every frame to 1e-5 (the answers are printed with six digits)."""
    folder = data / "people" / "pom_sample"
    config = pom.parse_pom(folder / "test.pom")
    scene, footage = config.scene(), read_footage(folder / "test.pom")
    solver = mf.Solver(tolerance=1e-4, max_iterations=100)
    assert len(config.frames) == 30
    for frame in config.frames:
        energy = mf.Occupancy(scene, footage.masks(frame), ignored=ignored, damping=0.8)
        mode = mf.mean_field(energy, solver=solver)
        location, expected = np.loadtxt(folder / answers / f"proba-f{frame}.dat").T
        assert (location == np.arange(scene.ground.n)).all()
        assert np.abs(mode.marginals[0, :, 1] - expected).max() < 1e-5, frame


def _positions(path):
    rows = np.loadtxt(path)
    return {int(frame): rows[rows[:, 0] == frame, 1:] for frame in np.unique(rows[:, 0])}


def test_the_scores_of_the_wildtrack_evaluation(data):
    folder = data / "people" / "wildtrack_moda_demo"
    truth, found = _positions(folder / "gt-demo.txt"), _positions(folder / "test-demo.txt")
    options = {"strict": True, "only_detected": True}
    score = mf.metrics.total(mf.metrics.detection_scores(truth, found, 20.0, **options))
    assert round(100 * score.recall, 2) == 94.96
    assert round(100 * score.precision, 2) == 93.58
    assert round(100 * mf.metrics.moda(truth, found, 20.0, **options), 3) == 88.445
    assert round(100 * mf.metrics.modp(truth, found, 20.0, **options), 3) == 75.605
    others = [round(100 * mf.metrics.moda(truth, found, tau, **options), 1) for tau in (5.0, 10.0, 40.0)]
    assert others == [2.1, 75.0, 89.9]
