"""pgmpy: marginals by its variable elimination against `mf.exact`, round trips, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

import mixfield as mf
from mixfield.errors import MixfieldError

models = pytest.importorskip("pgmpy.models", reason="pgmpy is not installed")
inference = pytest.importorskip("pgmpy.inference")
discrete = pytest.importorskip("pgmpy.factors.discrete")
bridge = pytest.importorskip("mixfield.bridges.pgmpy")

pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning")


def sprinkler():
    """Rain (3 states) makes the sprinkler unlikely; both wet the grass.

    R -> S
    R -> W <- S
    """
    states = {"R": ["none", "some", "much"], "S": ["off", "on"], "W": ["dry", "wet"]}
    network = models.DiscreteBayesianNetwork([("R", "S"), ("R", "W"), ("S", "W")])
    network.add_cpds(
        discrete.TabularCPD("W", 2, [[1.0, 0.2, 0.3, 0.1, 0.05, 0.0], [0.0, 0.8, 0.7, 0.9, 0.95, 1.0]],
                            ["R", "S"], [3, 2], state_names=states),
        discrete.TabularCPD("S", 2, [[0.4, 0.9, 0.99], [0.6, 0.1, 0.01]], ["R"], [3], state_names=states),
        discrete.TabularCPD("R", 3, [[0.7], [0.2], [0.1]], state_names=states),
    )  # fmt: skip
    return network


def random_graph(seed):
    rng = np.random.default_rng(seed)
    counts = [2, 3, 2, 1, 2]
    scopes = [(0,), (1, 0), (2, 0, 1), (0, 1, 2), (4, 3), (2, 4), ()]
    factors = [(scope, rng.standard_normal([counts[i] for i in scope])) for scope in scopes]
    factors[1][1][0, 0] = np.inf
    return mf.FactorGraph.from_factors(counts, factors)


def assert_marginals(network, names, energy):
    query = inference.VariableElimination(network)
    exact = mf.exact(energy).marginals
    for k, name in enumerate(names):
        values = query.query([name], show_progress=False).values  # not normalised for a Markov network
        np.testing.assert_allclose(exact[k, : len(values)], values / values.sum(), atol=1e-12)


def test_a_bayesian_network():
    network = sprinkler()
    energy = bridge.from_pgmpy(network)
    names = list(network.nodes())
    assert energy.label_counts.tolist() == [{"R": 3, "S": 2, "W": 2}[name] for name in names]
    assert mf.exact(energy).log_z == pytest.approx(0.0, abs=1e-12)
    assert_marginals(network, names, energy)
    x = [{"R": 1, "S": 0, "W": 1}[name] for name in names]
    assert energy.of(x) == pytest.approx(-np.log(0.2 * 0.9 * 0.7))


def test_evidence():
    network = sprinkler()
    names = list(network.nodes())
    posterior = mf.exact(bridge.from_pgmpy(network).condition({names.index("W"): 1}))
    rain = inference.VariableElimination(network).query(["R"], evidence={"W": "wet"}, show_progress=False)
    np.testing.assert_allclose(posterior.marginals[names.index("R")], rain.values, atol=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_round_trip_of_a_graph(seed):
    energy = random_graph(seed)
    network = bridge.to_pgmpy(energy, names=list("edcba"))
    assert isinstance(network, models.DiscreteMarkovNetwork)
    assert network.check_model()
    assert np.log(network.get_partition_function()) == pytest.approx(mf.exact(energy).log_z)
    assert_marginals(network, list("edcba"), energy)
    again = bridge.from_pgmpy(network)
    for x in np.ndindex(*energy.label_counts):
        assert again.of(np.array(x)) == pytest.approx(energy.of(np.array(x)), abs=1e-12)


def test_names():
    assert list(bridge.to_pgmpy(random_graph(0)).nodes()) == ["x0", "x1", "x2", "x3", "x4"]
    with pytest.raises(MixfieldError, match="names must be 5 different ones"):
        bridge.to_pgmpy(random_graph(0), names=["a"])


def test_a_factor_graph_of_pgmpy():
    energy = random_graph(1)
    network = bridge.to_pgmpy(energy).to_factor_graph()
    names = list(dict.fromkeys(name for factor in network.get_factors() for name in factor.variables))
    again = bridge.from_pgmpy(network)
    for x in np.ndindex(*energy.label_counts):
        labels = np.array([x[int(name[1:])] for name in names])
        assert again.of(labels) == pytest.approx(energy.of(np.array(x)), abs=1e-12)


# ---------------------------------------------------------------- what is refused


def test_continuous_variables_and_other_models():
    for model in (models.LinearGaussianBayesianNetwork([("a", "b")]), models.DynamicBayesianNetwork(), "model"):
        with pytest.raises(MixfieldError, match=f"got {type(model).__name__}; continuous variables must be discr"):
            bridge.from_pgmpy(model)


def test_directed_cycles():
    nx = pytest.importorskip("networkx")
    network = sprinkler()
    nx.DiGraph.add_edge(network, "W", "R")  # past the check of pgmpy
    with pytest.raises(MixfieldError, match="must not have directed cycles, got"):
        bridge.from_pgmpy(network)


def test_incomplete_models():
    with pytest.raises(MixfieldError, match="model is not complete, as pgmpy says: No CPD"):
        bridge.from_pgmpy(models.DiscreteBayesianNetwork([("a", "b")]))
    with pytest.raises(MixfieldError, match="every variable must have a factor, 'a' has none"):
        bridge.from_pgmpy(models.DiscreteMarkovNetwork([("a", "b")]))


def markov(first, second):
    """A network of two factors over one variable, whose states have these names."""
    network = models.DiscreteMarkovNetwork()
    network.add_node("a")
    for values, states in (([0.9, 0.1], first), ([0.3, 0.7], second)):
        names = {} if states is None else {"a": states}
        network.add_factors(discrete.DiscreteFactor(["a"], [2], values, state_names=names))
    return network


def test_states_in_two_orders():
    with pytest.raises(MixfieldError, match=r"agree on the states of 'a', got \['n', 'p'\] and \['p', 'n'\]"):
        bridge.from_pgmpy(markov(["n", "p"], ["p", "n"]))
    for first, second in ((["n", "p"], None), (None, ["n", "p"]), (None, None)):
        energy = bridge.from_pgmpy(markov(first, second))
        np.testing.assert_allclose(energy.of([[0], [1]]), -np.log([0.27, 0.07]))


def test_negative_weights():
    network = models.DiscreteMarkovNetwork()
    network.add_node("a")
    network.add_factors(discrete.DiscreteFactor(["a"], [2], [1.0, -1.0]))
    with pytest.raises(MixfieldError, match=r"the factor of \['a'\] must hold finite weights .* got -1.0"):
        bridge.from_pgmpy(network)
