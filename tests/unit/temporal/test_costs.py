"""Costs of modes and people."""

from __future__ import annotations

import itertools

import numpy as np

from mixfield.temporal.costs import FrameCosts, frame_costs, printed_price, stack


def test_posterior_price_makes_a_frame_cost_its_log_probability():
    """-log(m_k Q_k(x)) up to a constant of the frame, for every mode and every set of people."""
    rng = np.random.default_rng(0)
    q, weights = rng.uniform(0.01, 0.99, (3, 4)), np.array([0.5, 0.3, 0.2])
    costs = frame_costs(weights, q)
    differences = []
    for k in range(3):
        for x in itertools.product((0, 1), repeat=4):
            truth = -np.log(weights[k]) - np.log(np.where(x, q[k], 1 - q[k])).sum()
            differences.append(costs.mode[k] + costs.cell[k] @ x - truth)
    np.testing.assert_allclose(differences, differences[0])


def test_printed_price():
    costs = frame_costs(np.array([0.8, 0.2]), np.full((2, 1), 0.5), price=printed_price)
    np.testing.assert_allclose(costs.mode, [0.0, np.log(0.8 / 0.2) - np.log(0.2 / 0.8)])
    np.testing.assert_allclose(costs.cell, 0.0)


def test_certain_probabilities_are_clipped():
    costs = frame_costs(np.array([1.0, 0.0]), np.array([[0.0, 1.0], [1.0, 0.0]]), clip=1e-3)
    assert np.isfinite(costs.mode).all()
    np.testing.assert_allclose(np.abs(costs.cell), np.log(999))


def test_frames_with_fewer_modes_are_filled_with_infinity():
    costs = stack([FrameCosts(np.array([1.0, 0.0]), np.ones((2, 3))), FrameCosts(np.zeros(1), np.full((1, 3), 2.0))])
    assert costs.allowed.tolist() == [[True, True], [True, False]]
    assert np.isinf(costs.cell[1, 1]).all()
    assert costs.price(np.array([0, 0])) == 1.0
    np.testing.assert_array_equal(costs.chosen(np.array([1, 0])), [[1, 1, 1], [2, 2, 2]])
