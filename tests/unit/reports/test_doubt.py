"""Maps of doubt."""

from __future__ import annotations

import numpy as np
import pytest

import mixfield as mf
from mixfield.reports.doubt import ENTROPY, GAP, doubt_of, expected_error, expected_error_of_modes


def test_calibrated_posteriors_have_the_entropy_of_their_marginals():
    probs = np.random.default_rng(0).dirichlet(np.ones(3), (6, 7))
    posterior = mf.segment(np.zeros((6, 7), np.uint8), probs)
    doubt = doubt_of(posterior)
    q = posterior.marginals()
    assert doubt.kind == ENTROPY
    np.testing.assert_allclose(doubt.bits, -(q * np.log2(q)).sum(-1), atol=1e-9)
    assert doubt.maximum == pytest.approx(max(1.0, doubt.bits.max()))


def test_others_have_an_entropy_gap_if_it_is_given():
    posterior = mf.infer(mf.datasets.four_zones(4), 2)
    q = posterior.marginals()
    bits = -(q * np.log2(q + 1e-300)).sum(-1)
    assert doubt_of(posterior).kind == ENTROPY
    np.testing.assert_allclose(doubt_of(posterior).bits, bits, atol=1e-9)
    pixels = np.array([[0, 0, 5], [15, 15, 5]])
    np.testing.assert_array_equal(doubt_of(posterior, variables=pixels).bits, doubt_of(posterior).bits.ravel()[pixels])
    doubt = doubt_of(posterior, np.full((4, 4), 0.25))
    assert (doubt.kind, doubt.maximum) == (GAP, 1.0)


def test_the_expected_error_is_that_of_the_weights_where_modes_are_certain():
    q = np.zeros((2, 4, 5, 2))
    q[..., 0] = 1.0
    q[1, :, :2] = 0.0, 1.0
    posterior = mf.MixturePosterior((mf.Mode(q[0], 0.0), mf.Mode(q[1], -1.0)))
    expected = 0.4 / (1 + np.e)
    assert expected_error(posterior) == pytest.approx(expected)
    assert expected_error_of_modes(posterior.weights, [0.0, 0.4]) == pytest.approx(expected)


def test_the_expected_error_counts_doubt_inside_modes():
    q = np.full((3, 4, 2), (0.7, 0.3))
    assert expected_error(mf.MixturePosterior((mf.Mode(q, 0.0),))) == pytest.approx(0.3)
