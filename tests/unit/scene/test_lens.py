"""Lens models: distortion and its inverse."""

from __future__ import annotations

import numpy as np
import pytest

from mixfield.scene.lens import OpenCVLens, TsaiLens

K = np.array([[300.0, 0.0, 160.0], [0.0, 310.0, 120.0], [0.0, 0.0, 1.0]])


@pytest.mark.parametrize("kappa", [0.0, 0.005, -0.004])
def test_tsai_directions_invert_pixels(kappa):
    lens = TsaiLens(focal=5.5, kappa=kappa, centre=(320.0, 280.0), pixel=(0.005, 0.0047))
    directions = np.random.default_rng(0).uniform(-0.4, 0.4, (50, 2))
    np.testing.assert_allclose(lens.directions(lens.pixels(directions)), directions, atol=1e-9)


def test_opencv_directions_invert_pixels():
    lens = OpenCVLens(K, np.array([-0.2, 0.05, 0.001, -0.002, 0.01]))
    directions = np.random.default_rng(0).uniform(-0.4, 0.4, (50, 2))
    np.testing.assert_allclose(lens.directions(lens.pixels(directions)), directions, atol=1e-9)


def test_opencv_distorts_as_opencv_does():
    cv2 = pytest.importorskip("cv2")
    coefficients = np.array([-0.2, 0.05, 0.001, -0.002, 0.01, 0.03, -0.01, 0.02])
    directions = np.random.default_rng(1).uniform(-0.4, 0.4, (50, 2))
    points = np.c_[directions, np.ones(50)]
    expected, _ = cv2.projectPoints(points, np.zeros(3), np.zeros(3), K, coefficients)
    np.testing.assert_allclose(OpenCVLens(K, coefficients).pixels(directions), expected[:, 0], atol=1e-6)


def test_directions_beyond_the_fold_have_no_pixel():
    lens = OpenCVLens(K, np.array([-0.5, 0.0, 0.0, 0.0]))
    assert np.isfinite(lens.pixels(np.array([0.3, 0.2]))).all()
    assert np.isnan(lens.pixels(np.array([1.6, 0.0]))).all()
