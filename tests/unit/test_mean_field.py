"""Mean field: monotone, to a fixed point, the same bytes for any threads, the same optima for black boxes."""

from __future__ import annotations

import naive
import numpy as np
import pytest
from conftest import BlackBox, toy_factors
from strategies import random_marginals

import mixfield as mf
from mixfield.energy import grid_edges
from mixfield.errors import InfeasibleWarning, MixfieldError, NotConvergedWarning
from mixfield.solvers import critical_temperature, solver_for
from mixfield.solvers.factor_graph import MANY_VARIABLES
from mixfield.solvers.free_energy import entropies
from mixfield.solvers.tilt import Tilt


def _potts(seed=0):
    return mf.FactorGraph.potts_grid(0.3 * np.random.default_rng(seed).standard_normal((5, 4, 3)), 1.2)


def _ising(seed=0, side=5):
    return mf.datasets.random_ising(side, rng=seed)


def _ragged():
    soft = [(s, np.where(np.isinf(t), 4.0, t)) for s, t in toy_factors()]
    return mf.FactorGraph.from_factors((2, 2, 2, 3, 2), soft)


CATALOGUE = {"ising": _ising, "potts": _potts, "ragged": _ragged}


@pytest.fixture(params=CATALOGUE, ids=str)
def graph(request):
    return CATALOGUE[request.param]()


def _no_tilt(graph, n_modes=1):
    return Tilt.shared(np.where(graph.allowed, 0.0, np.inf), n_modes)


def _free(graph, q, temperature):
    """Free energy of one mode (n, L), by plain loops over the factors."""
    entropy = -sum(x * np.log(x) for x in q.ravel() if x > 0)
    return naive.expected(graph.factors(), q) - temperature * entropy


# ---------------------------------------------------------------- the bound


@pytest.mark.parametrize("temperature", [1.0, 2.5])
def test_bounds_are_entropy_minus_cost(graph, temperature):
    q = random_marginals(graph, np.random.default_rng(0))
    wanted = -_free(graph, q, temperature) / temperature
    assert solver_for(graph).bounds(q[None], temperature)[0] == pytest.approx(wanted, abs=1e-11)


def test_entropies():
    np.testing.assert_allclose(entropies(np.array([[0.5, 0.5], [1.0, 0.0]])), [np.log(2), 0.0], rtol=0, atol=1e-15)


def test_bound_of_a_binary_graph_with_forbidden_labels():
    graph = mf.FactorGraph.from_pairwise([[0.3, np.inf], [np.inf, -0.4], [0.1, 0.2]], [(0, 1), (1, 2)], np.eye(2))
    q = np.array([[1.0, 0.0], [0.0, 1.0], [0.25, 0.75]])
    assert solver_for(graph).bounds(q[None])[0] == pytest.approx(-_free(graph, q, 1.0), abs=1e-12)
    q[0] = [0.5, 0.5]
    assert solver_for(graph).bounds(q[None])[0] == -np.inf


# ---------------------------------------------------------------- coordinate ascent


@pytest.mark.parametrize("temperature", [0.5, 1.0, 3.0])
def test_free_energy_falls_with_every_sweep(graph, temperature):
    q = random_marginals(graph, np.random.default_rng(1))[None]
    one_sweep = solver_for(graph, mf.Solver(max_iterations=1))
    before = _free(graph, q[0], temperature)
    for _ in range(12):
        q = one_sweep.solve(q, _no_tilt(graph), temperature=temperature).q
        after = _free(graph, q[0], temperature)
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
    assert mode.log_z == pytest.approx(-_free(graph, q, 1.0), abs=1e-9)


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
    graph = _ising(seed=3, side=8)
    once = mf.mean_field(graph).log_z
    assert mf.mean_field(graph, restarts=40).log_z > once + 0.1
    assert mf.mean_field(graph, anneal_from=critical_temperature(graph)).log_z > once + 0.1


def test_seeds_change_the_random_starts_and_repeat():
    graph = _ising(seed=3, side=8)
    one, two, same = (mf.mean_field(graph, restarts=3, rng=seed) for seed in (0, 1, 0))
    assert one.marginals.tobytes() == same.marginals.tobytes()
    assert one.marginals.tobytes() != two.marginals.tobytes()


def test_iteration_limit_is_told_twice(graph):
    with pytest.warns(NotConvergedWarning, match="1 of 1 mean fields stopped at their iteration limit"):
        mode = mf.mean_field(graph, solver=mf.Solver(max_iterations=1))
    assert not mode.converged
    assert mode.iterations == 1


def test_tolerance_changes_the_answer(graph):
    rough, fine = (mf.mean_field(graph, solver=mf.Solver(tolerance=t)) for t in (1e-1, 1e-9))
    assert rough.iterations < fine.iterations


def test_marginals_are_read_only(graph):
    with pytest.raises(ValueError, match="read-only"):
        mf.mean_field(graph).marginals[...] = 0


# ---------------------------------------------------------------- threads


@pytest.mark.parametrize("family", ["ising", "potts"])
def test_threads_do_not_change_the_bytes(family):
    """20 modes of 2000 variables: enough work to be shared."""
    rng = np.random.default_rng(0)
    if family == "ising":
        graph = mf.datasets.random_ising(45, rng=1)
    else:
        graph = mf.FactorGraph.potts_grid(rng.standard_normal((45, 45, 3)), 0.8)
    q = np.stack([random_marginals(graph, rng) for _ in range(20)])
    runs = [solver_for(graph, mf.Solver(threads=t, max_iterations=15)).solve(q, _no_tilt(graph, 20)) for t in (1, 2, 8)]
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
    runs = [solver_for(graph, mf.Solver(threads=t, max_iterations=3)).solve(q, _no_tilt(graph)) for t in (1, 2, 8)]
    assert len({run.q.tobytes() for run in runs}) == 1
    assert {int(run.iterations[0]) for run in runs} == {3}


def test_threads_do_not_change_infer():
    graph = mf.datasets.random_ising(8, rng=1)
    answers = [mf.infer(graph, 4, solver=mf.Solver(threads=t)) for t in (1, 2, 8)]
    assert len({np.stack([m.marginals for m in a.modes]).tobytes() for a in answers}) == 1


# ---------------------------------------------------------------- parallel updates on black boxes


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


def test_a_nonlinear_black_box_tells_the_truth_about_itself():
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
        values.append(_free(graph, end[0], temperature))
    assert np.all(np.diff(values) <= 1.1e-9 * np.maximum(1.0, np.abs(values[1:])))
    assert values[-1] < values[0] - 0.1


def test_black_box_batch_is_each_of_its_modes(graph):
    rng = np.random.default_rng(6)
    q = np.stack([random_marginals(graph, rng) for _ in range(3)])
    solver = solver_for(BlackBox(graph), mf.Solver(tolerance=1e-7))
    batch = solver.solve(q, _no_tilt(graph, 3))
    for k in range(3):
        one = solver.solve(q[k : k + 1], _no_tilt(graph))
        np.testing.assert_allclose(batch.q[k], one.q[0], rtol=0, atol=1e-12)
        assert batch.iterations[k] == one.iterations[0]


def test_what_is_not_an_energy_is_told():
    with pytest.raises(MixfieldError, match="object lacks shape, n_labels, local_field, expected, of"):
        mf.mean_field(object())

    class Half:
        shape, n_labels = (2,), 2

        def local_field(self, q):
            return q

    with pytest.raises(MixfieldError, match="Half lacks expected, of"):
        mf.infer(Half())


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (lambda q: q[..., :1], "local_field of Bad must return"),
        (lambda q: q * np.nan, "local_field of Bad returned NaN"),
    ],
)
def test_a_black_box_that_answers_nonsense(answer, sentence):
    class Bad:
        shape, n_labels = (2,), 2

        def local_field(self, q):
            return answer(q)

        def expected(self, q):
            return float(q.sum())

        def of(self, x):
            return float(np.sum(x))

    with pytest.raises(MixfieldError, match=sentence):
        mf.mean_field(Bad())


# ---------------------------------------------------------------- hard zeros


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


def test_no_feasible_state_is_told():
    """An odd ring of two labels whose neighbours must differ."""
    table = np.where(np.eye(2) > 0, np.inf, 0.0)
    graph = mf.FactorGraph.from_pairwise(np.zeros((3, 2)), [(0, 1), (1, 2), (2, 0)], table)
    with pytest.warns(InfeasibleWarning, match="mass on forbidden states"):
        mode = mf.mean_field(graph)
    assert mode.log_z == -np.inf


def test_black_box_with_forbidden_labels():
    graph = mf.FactorGraph.from_pairwise([[np.inf, 0.0], [0.0, 0.5]], [(0, 1)], [[0.0, 2.0], [2.0, 0.0]])
    mode, ours = mf.mean_field(BlackBox(graph)), mf.mean_field(graph)
    np.testing.assert_allclose(mode.marginals, ours.marginals, rtol=0, atol=1e-6)
    assert mode.marginals[0, 0] == 0.0


# ---------------------------------------------------------------- wrong input


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


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"tolerance": 0.0}, "tolerance must be a finite number above 0"),
        ({"max_iterations": 0}, "max_iterations must be an integer >= 1"),
        ({"threads": 0}, "threads must be an integer >= 1"),
    ],
)
def test_wrong_solver(options, sentence):
    with pytest.raises(MixfieldError, match=sentence):
        mf.Solver(**options)


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
