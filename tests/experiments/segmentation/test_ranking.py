"""Rankings of the modes without an oracle."""

from __future__ import annotations

import numpy as np
import pytest

from experiments.segmentation.ranking import _calibration_curve, ranking


def _row(image, rng, n_modes=4):
    """Mean field and better modes; the feature "evidence" (the third) is what they gain."""
    qualities = np.append(0.3, rng.uniform(0.3, 0.9, n_modes - 1))
    features = rng.normal(size=(n_modes, 7)) * 0.1
    features[:, 0], features[:, 2] = 1.0, 10 * (qualities - 0.3)
    features[0] = 0.0
    q = np.zeros((n_modes + 1, 5, 2))
    q[..., 0] = np.append(0.5, qualities)[:, None]
    q[..., 1] = 1 - q[..., 0]
    row = {"method": "ours", "set": "voc", "image": str(image), "mean_field": 0.3, "by_weight": qualities.tolist()}
    row |= {"features": features.tolist(), "log_z": rng.normal(size=n_modes).tolist()}
    return row | {"likelihoods": {"true": [0] * 5, "q": np.rint(1000 * q).tolist()}}


def test_a_feature_that_tells_the_quality_is_learnt():
    rng = np.random.default_rng(0)
    coefficients, report = ranking([_row(image, rng) for image in range(40)])
    assert coefficients[2] > 0.5
    assert report["images"] == report["worth"] == 40
    assert report["learnt"]["best first"] > 35
    assert report["weights"]["best first"] < 20
    assert report["learnt"]["mean IoU"] > report["weights"]["mean IoU"] > report["mean field"]["mean IoU"] == 30
    assert report["learnt"]["nll"] < report["mean field"]["nll"] == pytest.approx(np.log(2))
    assert report["chance"] == pytest.approx(40 / 3, abs=0.1)


def test_calibration_curve():
    confidence, correct = np.array([0.6, 0.65, 0.96, 0.96]), np.array([True, False, True, True])
    assert _calibration_curve(confidence, correct) == [[0.625, 0.5, 2], [pytest.approx(0.96), 1.0, 2]]
