"""Coordinate ascent on factor graphs: monotone, to a fixed point, the same bytes for any threads."""

from __future__ import annotations

import naive
import numpy as np
import pytest
from catalogue import CATALOGUE, free_energy, no_tilt
from concurrency import in_threads
from strategies import random_marginals

import mixfield as mf
from mixfield.energy import grid_edges
from mixfield.solvers import solver_for, starts
from mixfield.solvers.factor_graph import MANY_VARIABLES, gibbs_sweeps


@pytest.fixture(params=CATALOGUE, ids=str)
def graph(request):
    return CATALOGUE[request.param]()


def test_bound_of_a_binary_graph_with_forbidden_labels():
    graph = mf.FactorGraph.from_pairwise([[0.3, np.inf], [np.inf, -0.4], [0.1, 0.2]], [(0, 1), (1, 2)], np.eye(2))
    q = np.array([[1.0, 0.0], [0.0, 1.0], [0.25, 0.75]])
    assert solver_for(graph).bounds(q[None])[0] == pytest.approx(-free_energy(graph, q, 1.0), abs=1e-12)
    q[0] = [0.5, 0.5]
    assert solver_for(graph).bounds(q[None])[0] == -np.inf


@pytest.mark.parametrize("temperature", [0.5, 1.0, 3.0])
def test_free_energy_falls_with_every_sweep(graph, temperature):
    q = random_marginals(graph, np.random.default_rng(1))[None]
    one_sweep = solver_for(graph, mf.Solver(max_iterations=1))
    before = free_energy(graph, q[0], temperature)
    for _ in range(12):
        q = one_sweep.solve(q, no_tilt(graph), temperature=temperature).q
        after = free_energy(graph, q[0], temperature)
        assert after <= before + 1e-10
        before = after


@pytest.mark.parametrize("temperature", [0.7, 1.0, 2.0])
def test_the_answer_is_a_fixed_point(graph, temperature):
    mode = mf.mean_field(graph, temperature=temperature, solver=mf.Solver(tolerance=1e-10))
    q = mode.marginals.reshape(graph.n, -1)
    for i in range(graph.n):
        wanted = naive.boltzmann(naive.local_field(graph.factors(), q, i), 1 / temperature)
        np.testing.assert_allclose(q[i], wanted, rtol=0, atol=1e-8)
    assert mode.converged
    assert mode.temperature == temperature
    assert mode.log_z == pytest.approx(-free_energy(graph, q, 1.0), abs=1e-9)


@pytest.mark.parametrize("family", ["ising", "potts"])
def test_threads_do_not_change_the_bytes(family):
    """20 modes of 2000 variables: enough work to be shared."""
    rng = np.random.default_rng(0)
    if family == "ising":
        graph = mf.datasets.random_ising(45, rng=1)
    else:
        graph = mf.FactorGraph.potts_grid(rng.standard_normal((45, 45, 3)), 0.8)
    q = np.stack([random_marginals(graph, rng) for _ in range(20)])
    runs = [solver_for(graph, mf.Solver(threads=t, max_iterations=15)).solve(q, no_tilt(graph, 20)) for t in (1, 2, 8)]
    assert len({run.q.tobytes() for run in runs}) == 1
    assert len({run.iterations.tobytes() for run in runs}) == 1
    temperatures, bias = np.geomspace(3.0, 1.0, 8), np.zeros((graph.n, graph.n_labels))
    solvers = [solver_for(graph, mf.Solver(threads=t)) for t in (1, 2, 8)]
    drawn = [solver.cooled_starts(20, bias, temperatures, np.random.default_rng(5)) for solver in solvers]
    assert len({run.tobytes() for run in drawn}) == 1


@pytest.mark.parametrize("family", ["ising", "potts"])
def test_threads_sharing_a_colour_do_not_change_the_bytes(family):
    rng = np.random.default_rng(2)
    if family == "ising":
        graph = mf.FactorGraph.ising(rng.uniform(-1, 1, (512, 512)), grid_edges((512, 512)), 0.4)
    else:
        graph = mf.FactorGraph.potts_grid(rng.standard_normal((512, 512, 3)), 0.5)
    assert graph.n >= MANY_VARIABLES
    q = random_marginals(graph, rng)[None]
    runs = [solver_for(graph, mf.Solver(threads=t, max_iterations=3)).solve(q, no_tilt(graph)) for t in (1, 2, 8)]
    assert len({run.q.tobytes() for run in runs}) == 1
    assert {int(run.iterations[0]) for run in runs} == {3}


def test_hard_zeros_end_in_a_feasible_mode(toy):
    mode = mf.mean_field(toy, restarts=5)
    assert np.isfinite(mode.log_z)
    assert mode.log_z <= naive.log_z(toy) + 1e-10
    assert toy.expected(mode.marginals) < np.inf


def test_exclusive_ring():
    """Seven variables with three labels on a ring, neighbours must differ: colourings only."""
    ring = [(i, (i + 1) % 7) for i in range(7)]
    table = np.where(np.eye(3) > 0, np.inf, 0.0)
    graph = mf.FactorGraph.from_pairwise(np.zeros((7, 3)), ring, table)
    mode = mf.mean_field(graph, restarts=10)
    x = mode.labeling()
    assert all(x[i] != x[j] for i, j in ring)
    assert -1e-9 <= mode.log_z <= np.log(2**7 - 2) + 1e-9  # (k-1)^n - (k-1) colourings of an odd ring


def test_faint_traces_of_forbidden_states_are_trimmed():
    """Two labels that exclude each other can both keep a trace of probability: the bound must stay finite."""
    own = [np.inf, -0.72, np.inf, -2.76]
    table = [
        [-0.76, 2.01, 2.17, -2.43],
        [1.53, 1.19, np.inf, 0.67],
        [-4.03, -0.41, -0.65, 4.81],
        [0.28, -7.35, 3.57, 5.06],
    ]
    graph = mf.FactorGraph.from_factors([4, 4], [((0,), own), ((0, 1), table)])
    mode = mf.mean_field(graph)
    assert mf.exact(graph).log_z - 1e-3 < mode.log_z <= mf.exact(graph).log_z


@pytest.mark.parametrize("family", CATALOGUE)
def test_threads_share_a_graph(family):
    """Eight threads solve the same object, whose flat forms none of them has computed before."""
    graph, alone = CATALOGUE[family](), CATALOGUE[family]()
    wanted = mf.mean_field(alone, restarts=8)
    for mode in in_threads(lambda: mf.mean_field(graph, restarts=8)):
        assert mode.marginals.tobytes() == wanted.marginals.tobytes()
        assert mode.log_z == wanted.log_z


def test_gibbs_sweeps_draw_from_the_distribution():
    """4000 chains of 60 sweeps of a field that mixes fast against enumeration; fixed seeds, 5 sigma."""
    graph = mf.FactorGraph.ising(np.linspace(-0.5, 0.8, 9).reshape(3, 3), grid_edges((3, 3)), 0.3)
    count, rng = 4000, np.random.default_rng(0)
    q = starts.one_hot(starts.labels(np.ones((count, 9, 2), bool), rng), 2)
    seeds = rng.integers(0, 2**63, count, dtype=np.uint64)
    drawn = gibbs_sweeps(graph, q, np.zeros((9, 2)), np.ones(60), seeds, threads=2)
    assert set(np.unique(drawn)) == {0.0, 1.0}
    truth = naive.marginals(graph).reshape(9, 2)[:, 1]
    assert drawn[..., 1].mean(0) == pytest.approx(truth, abs=5 * np.sqrt(0.25 / count))


def test_gibbs_sweeps_keep_to_allowed_labels(two_wells):
    bias = np.zeros((9, 2))
    bias[4, 1] = np.inf
    q = np.zeros((5, 9, 2))
    q[..., 0] = 1.0
    drawn = gibbs_sweeps(two_wells, q, bias, np.ones(20), np.arange(5, dtype=np.uint64), threads=1)
    assert (drawn[:, 4, 0] == 1.0).all()
    assert drawn[..., 1].any()
