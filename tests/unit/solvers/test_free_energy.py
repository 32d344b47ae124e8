"""The bound A = H - E against plain loops."""

from __future__ import annotations

import numpy as np
import pytest
from catalogue import CATALOGUE, free_energy
from strategies import random_marginals

from mixfield.solvers import solver_for
from mixfield.solvers.free_energy import bounds, entropies


@pytest.fixture(params=CATALOGUE, ids=str)
def graph(request):
    return CATALOGUE[request.param]()


@pytest.mark.parametrize("temperature", [1.0, 2.5])
def test_bounds_are_entropy_minus_cost(graph, temperature):
    q = random_marginals(graph, np.random.default_rng(0))
    wanted = -free_energy(graph, q, temperature) / temperature
    assert solver_for(graph).bounds(q[None], temperature)[0] == pytest.approx(wanted, abs=1e-11)


def test_entropies():
    np.testing.assert_allclose(entropies(np.array([[0.5, 0.5], [1.0, 0.0]])), [np.log(2), 0.0], rtol=0, atol=1e-15)


def test_the_general_bound_is_that_of_each_solver(graph):
    """Binary graphs have a kernel of their own."""
    rng = np.random.default_rng(1)
    q = np.stack([random_marginals(graph, rng, sharp=sharp) for sharp in (False, True, True)])
    assert bounds(graph, q) == pytest.approx(solver_for(graph).bounds(q), abs=1e-10)
    assert bounds(graph, q, 2.0) == pytest.approx(solver_for(graph).bounds(q, 2.0), abs=1e-10)
