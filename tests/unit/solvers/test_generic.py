"""Damped parallel updates on black boxes: the same optima as coordinate ascent, and no rise of the free energy."""

from __future__ import annotations

import naive
import numpy as np
import pytest
from catalogue import CATALOGUE, free_energy, no_tilt
from conftest import BlackBox
from strategies import random_marginals

import mixfield as mf
from mixfield.energy import grid_edges
from mixfield.solvers import solver_for
from mixfield.solvers.tilt import Tilt


@pytest.fixture(params=CATALOGUE, ids=str)
def graph(request):
    return CATALOGUE[request.param]()


class Balanced:
    """A truly nonlinear energy: spins pay for the square of the deviation of their mean from ``target``, and a field.

    Under a product distribution E[(m - target)^2] = (mean - target)^2 + variance, in closed form.
    """

    def __init__(self, field, strength, target):
        self.h, self.strength, self.target = np.asarray(field, float), strength, target
        self.shape, self.n_labels = self.h.shape, 2

    def of(self, x):
        s = 2.0 * np.asarray(x) - 1.0
        return float(-(self.h * s).sum() + self.strength * (s.mean() - self.target) ** 2)

    def expected(self, q):
        m = q[..., 1] - q[..., 0]
        n = m.size
        spread = (m.mean() - self.target) ** 2 + (1 - m**2).sum() / n**2
        return float(-(self.h * m).sum() + self.strength * spread)

    def local_field(self, q):
        out = np.empty_like(q)
        for i in range(q.shape[0]):
            for label in (0, 1):
                fixed = q.copy()
                fixed[i] = np.arange(2) == label
                out[i, label] = self.expected(fixed)
        return out


def test_expected_of_the_nonlinear_black_box_is_that_of_enumeration():
    box = Balanced(np.array([0.2, -0.1, 0.0]), 3.0, 0.3)
    q = np.array([[0.3, 0.7], [0.8, 0.2], [0.5, 0.5]])
    truth = sum(naive.product_probability(q, x) * box.of(x) for x in naive.states((2, 2, 2)))
    assert box.expected(q) == pytest.approx(truth, abs=1e-13)


@pytest.mark.parametrize("temperature", [0.6, 1.0, 2.0])
def test_black_box_reaches_the_optimum_of_coordinate_ascent(graph, temperature):
    """From a start near an optimum, so that both land in the same one."""
    rng = np.random.default_rng(4)
    near = mf.mean_field(graph, temperature=temperature).marginals
    start = 0.9 * near + 0.1 * random_marginals(graph, rng).reshape(near.shape)
    solver = mf.Solver(tolerance=1e-9)
    ours = mf.mean_field(graph, temperature=temperature, start=start, solver=solver)
    box = mf.mean_field(BlackBox(graph), temperature=temperature, start=start, solver=solver)
    np.testing.assert_allclose(box.marginals, ours.marginals, rtol=0, atol=1e-6)
    assert box.log_z == pytest.approx(ours.log_z, abs=1e-7)


def test_nonlinear_black_box_reaches_a_fixed_point():
    box = Balanced(np.linspace(-0.5, 0.7, 6), 40.0, 0.2)
    mode = mf.mean_field(box, solver=mf.Solver(tolerance=1e-10))
    field = box.local_field(mode.marginals)
    wanted = np.stack([naive.boltzmann(row, 1.0) for row in field])
    np.testing.assert_allclose(mode.marginals, wanted, rtol=0, atol=1e-7)
    energy = -np.array([box.of(x) for x in naive.states((2,) * 6)])
    assert mode.log_z <= naive.log_sum_exp(energy) + 1e-12


@pytest.mark.parametrize("temperature", [0.3, 1.0, 2.0])
def test_damped_updates_never_let_the_free_energy_rise(temperature):
    """Strongly repelling neighbours, on which undamped parallel updates would swing for ever."""
    graph = mf.FactorGraph.ising(0.1 * np.ones((4, 4)), grid_edges((4, 4)), -2.0)
    solver = solver_for(BlackBox(graph))
    q = np.full((1, 16, 2), 0.5) + np.array([0.3, -0.3])
    tilt = Tilt.shared(np.zeros((16, 2)), 1)
    values = []
    for limit in range(1, 40):
        end = solver.solve(q, tilt, temperature=np.array([temperature]), tolerance=1e-12, max_iterations=limit).q
        values.append(free_energy(graph, end[0], temperature))
    assert np.all(np.diff(values) <= 1.1e-9 * np.maximum(1.0, np.abs(values[1:])))
    assert values[-1] < values[0] - 0.1


def test_black_box_batch_is_each_of_its_modes(graph):
    rng = np.random.default_rng(6)
    q = np.stack([random_marginals(graph, rng) for _ in range(3)])
    solver = solver_for(BlackBox(graph), mf.Solver(tolerance=1e-7))
    batch = solver.solve(q, no_tilt(graph, 3))
    for k in range(3):
        one = solver.solve(q[k : k + 1], no_tilt(graph))
        np.testing.assert_allclose(batch.q[k], one.q[0], rtol=0, atol=1e-12)
        assert batch.iterations[k] == one.iterations[0]


def test_black_box_with_forbidden_labels():
    graph = mf.FactorGraph.from_pairwise([[np.inf, 0.0], [0.0, 0.5]], [(0, 1)], [[0.0, 2.0], [2.0, 0.0]])
    mode, ours = mf.mean_field(BlackBox(graph)), mf.mean_field(graph)
    np.testing.assert_allclose(mode.marginals, ours.marginals, rtol=0, atol=1e-6)
    assert mode.marginals[0, 0] == 0.0
