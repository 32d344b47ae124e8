"""Calibrated mixtures: blended marginals, and marginals, samples and densities that agree."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import mixfield as mf
from mixfield.mixture.calibration import Blend, Calibration


@pytest.fixture
def posterior():
    graph = mf.FactorGraph.ising([0.2, 0.0, -0.1], [(0, 1), (1, 2)], 1.5)
    plain = mf.infer(graph, n_modes=2)
    evidence = np.random.default_rng(0).dirichlet([1.0, 1.0], 3)
    calibration = Calibration(np.array([0.7, 0.3]), np.array([np.nan, 0.4]), evidence, Blend(0.3, 0.6))
    return replace(plain, calibration=calibration)


def test_blend_is_the_normalised_product_of_powers(posterior):
    q, evidence = posterior.modes[0].marginals, posterior.calibration.evidence
    product = np.maximum(q, 1e-6) ** 0.3 * evidence**0.6
    np.testing.assert_allclose(posterior.mode_marginals(0), product / product.sum(-1, keepdims=True), rtol=1e-6)


def test_without_exponents_nothing_is_blended(posterior):
    plain = replace(posterior, calibration=replace(posterior.calibration, blending=Blend(1.0, 0.0)))
    np.testing.assert_allclose(plain.mode_marginals(1), plain.modes[1].marginals, atol=2e-6)


def test_outliers_are_drawn_by_the_frequencies_of_the_labels(posterior):
    blending = Blend(0.3, 0.6, outliers=0.2)
    some = replace(posterior, calibration=replace(posterior.calibration, blending=blending))
    frequencies = posterior.calibration.evidence.mean(0)
    np.testing.assert_allclose(some.mode_marginals(0), 0.8 * posterior.mode_marginals(0) + 0.2 * frequencies)


@pytest.mark.parametrize("numbers", [(-0.1, 1.0), (0.1, np.inf), (0.1, np.nan), (0.1, 0.8, 1.1), (0.1, 0.8, -0.1)])
def test_blends_of_nothing_but_probabilities(numbers):
    with pytest.raises(mf.errors.MixfieldError, match="outliers a share"):
        Blend(*numbers)


def test_weights_are_calibrated_and_model_weights_are_those_of_the_paper(posterior):
    assert posterior.weights.tolist() == [0.7, 0.3]
    bounds = np.array([mode.log_z for mode in posterior.modes])
    np.testing.assert_allclose(posterior.model_weights, np.exp(bounds) / np.exp(bounds).sum())
    assert replace(posterior, calibration=None).weights.tolist() == posterior.model_weights.tolist()


def test_marginals_samples_and_densities_agree(posterior):
    states = np.array(np.meshgrid(*[[0, 1]] * 3, indexing="ij")).reshape(3, -1).T
    density = np.exp(posterior.log_prob(states))
    assert density.sum() == pytest.approx(1.0)
    np.testing.assert_allclose((states * density[:, None]).sum(0), posterior.marginals()[:, 1], atol=1e-12)
    draws = posterior.sample(40000, rng=0)
    np.testing.assert_allclose(draws.mean(0), posterior.marginals()[:, 1], atol=0.015)  # six standard errors


def test_some_of_the_modes(posterior):
    some = posterior.calibration.take(np.array([1]))
    assert some.weights.tolist() == [1.0]
    assert some.answers.tolist() == [0.4]


@pytest.mark.parametrize("compact", [False, True])
def test_saved_and_loaded(posterior, tmp_path, compact):
    posterior.save(tmp_path / "p.npz", compact=compact)
    again = mf.load(tmp_path / "p.npz")
    np.testing.assert_array_equal(again.weights, posterior.weights)
    np.testing.assert_array_equal(again.calibration.answers, posterior.calibration.answers)
    np.testing.assert_allclose(again.marginals(), posterior.marginals(), atol=2e-4 if compact else 1e-7)


@pytest.mark.parametrize("weights", [[0.7], [0.7, 0.7], [1.2, -0.2]])
def test_damaged_calibrations_are_refused(posterior, tmp_path, weights):
    damaged = replace(posterior, calibration=replace(posterior.calibration, weights=np.array(weights)))
    damaged.save(tmp_path / "p.npz")
    with pytest.raises(mf.errors.FileFormatError, match="calibration"):
        mf.load(tmp_path / "p.npz")


def test_that_there_is_no_doubt_is_saved(posterior, tmp_path):
    calibration = replace(posterior.calibration.take(np.array([0])), without_doubt=True)
    replace(posterior, modes=posterior.modes[:1], tree=(), calibration=calibration).save(tmp_path / "sure.npz")
    posterior.save(tmp_path / "doubtful.npz")
    assert mf.load(tmp_path / "sure.npz").calibration.without_doubt
    assert not mf.load(tmp_path / "doubtful.npz").calibration.without_doubt
    replace(posterior, calibration=replace(posterior.calibration, without_doubt=True)).save(tmp_path / "damaged.npz")
    with pytest.raises(mf.errors.FileFormatError, match="without_doubt"):
        mf.load(tmp_path / "damaged.npz")
