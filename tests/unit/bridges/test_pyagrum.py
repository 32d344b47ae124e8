"""pyAgrum: marginals by its inference against `mf.exact`, round trips, and what is refused."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import mixfield as mf
from mixfield.errors import MixfieldError

gum = pytest.importorskip("pyagrum", reason="pyagrum is not installed")
bridge = pytest.importorskip("mixfield.bridges.pyagrum")
with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # these are loaded at first use, and crash if warnings are errors
    gum.MarkovRandomField, gum.InfluenceDiagram  # noqa: B018


def random_graph(seed):
    rng = np.random.default_rng(seed)
    counts = [2, 3, 2, 1, 4]
    scopes = [(0,), (1, 0), (2, 0, 1), (0, 1, 2), (4, 3), (2, 4), ()]
    factors = [(scope, rng.standard_normal([counts[i] for i in scope])) for scope in scopes]
    factors[1][1][0, 0] = np.inf
    return mf.FactorGraph.from_factors(counts, factors)


def network(seed):
    """Tables of random probabilities; A has 3 labels and D has 4."""
    gum.initRandom(seed)
    return gum.fastBN("A{x|y|z}->B->C->E;A->C<-D[4]")


def assert_marginals(inference, names, energy):
    inference.makeInference()
    exact = mf.exact(energy).marginals
    for k, name in enumerate(names):
        values = inference.posterior(name).toarray()
        np.testing.assert_allclose(exact[k, : len(values)], values, atol=1e-10)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_bayesian_network(seed):
    model = network(seed)
    energy = bridge.from_pyagrum(model)
    names = [model.variable(node).name() for node in sorted(model.nodes())]
    assert mf.exact(energy).log_z == pytest.approx(0.0, abs=1e-10)
    assert_marginals(gum.LazyPropagation(model), names, energy)
    state = {"A": 2, "B": 1, "C": 0, "D": 3, "E": 1}
    instantiation = model.completeInstantiation()  # kept: pyAgrum 2 does not, and crashes
    instantiation.fromdict(state)
    joint = model.jointProbability(instantiation)
    assert energy.of([state[name] for name in names]) == pytest.approx(-np.log(joint))


def test_evidence():
    model = network(4)
    names = [model.variable(node).name() for node in sorted(model.nodes())]
    inference = gum.LazyPropagation(model)
    inference.setEvidence({"A": "z", "E": 0})
    observed = bridge.from_pyagrum(model).condition({names.index("A"): 2, names.index("E"): 0})
    assert_marginals(inference, names, observed)
    assert mf.exact(observed).log_z == pytest.approx(np.log(inference.evidenceProbability()))


def test_nodes_that_were_removed():
    """Nodes are not numbered from 0 on then."""
    model = network(5)
    model.erase("A")
    names = [model.variable(node).name() for node in sorted(model.nodes())]
    assert_marginals(gum.LazyPropagation(model), names, bridge.from_pyagrum(model))


@pytest.mark.parametrize("seed", range(3))
def test_round_trip_of_a_graph(seed):
    energy = random_graph(seed)
    field = bridge.to_pyagrum(energy)
    assert isinstance(field, gum.MarkovRandomField)
    assert_marginals(gum.ShaferShenoyMRFInference(field), [f"x{i}" for i in range(5)], energy)
    again = bridge.from_pyagrum(field)
    for x in np.ndindex(*energy.label_counts):
        assert again.of(np.array(x)) == pytest.approx(energy.of(np.array(x)), abs=1e-12)


def test_names():
    field = bridge.to_pyagrum(random_graph(0), names=list("edcba"))
    assert [field.variable(node).name() for node in sorted(field.nodes())] == list("edcba")
    with pytest.raises(MixfieldError, match="names must be 5 different ones"):
        bridge.to_pyagrum(random_graph(0), names=list("eecba"))


def test_a_variable_without_factors():
    field = gum.MarkovRandomField()
    field.add(gum.LabelizedVariable("a", "a", 3))
    assert mf.exact(bridge.from_pyagrum(field)).log_z == pytest.approx(np.log(3))


def test_other_models_are_refused():
    for model in (gum.InfluenceDiagram(), gum.DAG(), "model"):
        with pytest.raises(
            MixfieldError, match=f"BayesNet or MarkovRandomField of pyAgrum, got {type(model).__name__}"
        ):
            bridge.from_pyagrum(model)
