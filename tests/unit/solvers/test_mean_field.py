"""Mean field of any energy: every option changes the answer, every doubt is a warning."""

from __future__ import annotations

import naive
import numpy as np
import pytest
from catalogue import CATALOGUE, ising
from dense_fields import marginals, photo

import mixfield as mf
from mixfield.errors import InfeasibleWarning, MixfieldError, NotConvergedWarning
from mixfield.solvers import critical_temperature, solver_for


@pytest.fixture(params=CATALOGUE, ids=str)
def graph(request):
    return CATALOGUE[request.param]()


def test_the_bound_is_below_log_z(graph):
    if graph.n <= 6:
        assert mf.mean_field(graph).log_z <= naive.log_z(graph) + 1e-12
    assert mf.mean_field(graph).log_z <= mf.exact(graph).log_z + 1e-12


def test_independent_variables_are_solved_exactly():
    graph = mf.FactorGraph.from_pairwise(np.random.default_rng(0).standard_normal((4, 3)), [], [])
    mode = mf.mean_field(graph)
    np.testing.assert_allclose(mode.marginals, naive.marginals(graph), rtol=0, atol=1e-12)
    assert mode.log_z == pytest.approx(naive.log_z(graph), abs=1e-12)


def test_temperature_changes_the_answer(two_wells):
    cold, hot = mf.mean_field(two_wells), mf.mean_field(two_wells, temperature=50.0)
    assert np.abs(hot.marginals - 0.5).max() < 0.02
    assert np.abs(cold.marginals - 0.5).max() > 0.45


def test_warm_start_changes_the_answer(two_wells):
    for label in (0, 1):
        start = np.full((3, 3, 2), 0.05)
        start[..., label] = 0.95
        assert (mf.mean_field(two_wells, start=start).labeling() == label).all()


def test_restarts_and_annealing_find_better_optima():
    graph = ising(seed=3, side=8)
    once = mf.mean_field(graph).log_z
    assert mf.mean_field(graph, restarts=40).log_z > once + 0.1
    assert mf.mean_field(graph, anneal_from=critical_temperature(graph)).log_z > once + 0.1


def test_seeds_change_the_random_starts_and_repeat():
    graph = ising(seed=3, side=8)
    one, two, same = (mf.mean_field(graph, restarts=3, rng=seed) for seed in (0, 1, 0))
    assert one.marginals.tobytes() == same.marginals.tobytes()
    assert one.marginals.tobytes() != two.marginals.tobytes()


def test_iteration_limit_is_a_warning_and_a_field(graph):
    with pytest.warns(NotConvergedWarning, match="1 of 1 mean fields stopped at their iteration limit"):
        mode = mf.mean_field(graph, solver=mf.Solver(max_iterations=1))
    assert not mode.converged
    assert mode.iterations == 1


def test_marginals_are_read_only(graph):
    with pytest.raises(ValueError, match="read-only"):
        mf.mean_field(graph).marginals[...] = 0


def test_no_feasible_state_is_a_warning():
    """An odd ring of two labels whose neighbours must differ."""
    table = np.where(np.eye(2) > 0, np.inf, 0.0)
    graph = mf.FactorGraph.from_pairwise(np.zeros((3, 2)), [(0, 1), (1, 2), (2, 0)], table)
    with pytest.warns(InfeasibleWarning, match="mass on forbidden states"):
        mode = mf.mean_field(graph)
    assert mode.log_z == -np.inf


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"temperature": 0.0}, "temperature must be a finite number above 0, got 0.0"),
        ({"temperature": np.nan}, "temperature must be a finite number above 0, got nan"),
        ({"restarts": 0}, "restarts must be an integer >= 1, got 0"),
        ({"anneal_from": -1.0}, "anneal_from must be a finite number above 0"),
        ({"rng": -1}, "rng must be a seed"),
        ({"rng": "x"}, "rng must be a seed"),
        ({"start": np.ones((2, 2))}, r"start must have shape \(3, 3, 2\) = \(\*shape, L\) of the energy, got \(2, 2\)"),
        ({"start": np.zeros((3, 3, 2))}, "start must hold probabilities"),
        ({"start": -np.ones((3, 3, 2))}, "start must hold probabilities"),
    ],
)
def test_wrong_options(two_wells, options, sentence):
    with pytest.raises(MixfieldError, match=sentence):
        mf.mean_field(two_wells, **options)


@pytest.fixture
def rng():
    return np.random.default_rng(11)


def test_a_start_of_another_shape_is_an_error(rng):
    crf = photo((9, 11), 3, rng)
    with pytest.raises(MixfieldError, match="start"):
        mf.mean_field(crf, start=marginals((11, 9), 3, rng))


def test_the_number_of_restarts_is_the_number_of_starts(two_wells, monkeypatch):
    counted = []
    solver = type(solver_for(two_wells))
    best_mode = solver.best_mode

    def watched(self, q, *rest):
        counted.append(q.shape)
        return best_mode(self, q, *rest)

    monkeypatch.setattr(solver, "best_mode", watched)
    mf.mean_field(two_wells, restarts=5)
    mf.mean_field(two_wells, restarts=2, anneal_from=3.0)
    assert counted == [(5, 9, 2), (2, 9, 2)]


def test_a_start_may_be_certain(two_wells):
    for label in (0, 1):
        start = np.zeros((3, 3, 2))
        start[..., label] = 1.0
        assert (mf.mean_field(two_wells, start=start).labeling() == label).all()
