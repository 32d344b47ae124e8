"""dimod: the same energies, a sampler that passes dimod's own tests, and its vectors against the posterior."""

from __future__ import annotations

import itertools
import unittest

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import mixfield as mf
from mixfield.errors import MixfieldError

dimod = pytest.importorskip("dimod", reason="dimod is not installed")
bridge = pytest.importorskip("mixfield.bridges.dimod")


def random_bqm(n, kind, seed, names=None):
    rng = np.random.default_rng(seed)
    variables = list(range(n)) if names is None else names
    pairs = [pair for pair in itertools.combinations(variables, 2) if rng.random() < 0.7]
    linear = {v: float(b) for v, b in zip(variables, rng.standard_normal(n), strict=True)}
    quadratic = dict(zip(pairs, rng.standard_normal(len(pairs)).tolist(), strict=True))
    return dimod.BinaryQuadraticModel(linear, quadratic, float(rng.standard_normal()), kind)


def states(n):
    return np.array(list(itertools.product((0, 1), repeat=n))).reshape(2**n, n)


@given(st.integers(0, 5), st.sampled_from(["SPIN", "BINARY"]), st.integers(0, 2**32 - 1))
def test_energies(n, kind, seed):
    bqm, labels = random_bqm(n, kind, seed), states(n)
    values = labels if kind == "BINARY" else 2 * labels - 1
    expected = bqm.energies((values, list(bqm.variables)))
    np.testing.assert_allclose(mf.FactorGraph.from_bqm(bqm).of(labels), expected, atol=1e-12)
    np.testing.assert_allclose(bridge.from_bqm(bqm, beta=2.5).of(labels), 2.5 * expected, atol=1e-12)


@pytest.mark.parametrize("model", [dimod.Float32BQM, dimod.Float64BQM, dimod.DictBQM])
def test_every_kind_of_model_and_any_names(model):
    bqm = model({"b": 1.0, ("a", 0): -0.5}, {("b", ("a", 0)): 2.0}, 0.25, "BINARY")
    assert list(bqm.variables) == ["b", ("a", 0)]
    assert mf.FactorGraph.from_bqm(bqm).of(states(2)).tolist() == [0.25, -0.25, 1.25, 2.75]


@pytest.mark.parametrize("model", [dimod.QuadraticModel(), dimod.CQM(), dimod.DQM(), {("a", "b"): 1.0}])
def test_other_models_are_refused(model):
    with pytest.raises(MixfieldError, match=f"bqm must be a dimod.BinaryQuadraticModel, got {type(model).__name__}"):
        mf.FactorGraph.from_bqm(model)


def test_infinite_biases_and_temperatures_are_refused():
    with pytest.raises(MixfieldError, match="linear biases of bqm must be finite, got inf"):
        mf.FactorGraph.from_bqm(dimod.BQM({"a": np.inf}, {}, "SPIN"))
    with pytest.raises(MixfieldError, match="beta must be a finite number above 0"):
        bridge.MixfieldSampler().sample(random_bqm(2, "SPIN", 0), beta=0.0)


# ---------------------------------------------------------------- the sampler


@dimod.testing.load_sampler_bqm_tests(bridge.MixfieldSampler)
class TestsOfDimod(unittest.TestCase):
    def test_interface(self):
        dimod.testing.assert_sampler_api(bridge.MixfieldSampler())


def ferromagnet():
    """Five spins in a ring that agree, and prefer -1 a little."""
    pairs = {(i, (i + 1) % 5): -1.5 for i in range(5)}
    return dimod.BinaryQuadraticModel({0: 0.2}, pairs, 3.0, "SPIN")


@pytest.mark.parametrize("kind", ["SPIN", "BINARY"])
@pytest.mark.parametrize("num_reads", [None, 7])
def test_rows(kind, num_reads):
    bqm = random_bqm(6, kind, 3, names=list("fedcba"))
    answer = bridge.MixfieldSampler().sample(bqm, n_modes=3, beta=3.0, num_reads=num_reads)
    dimod.testing.assert_response_energies(answer, bqm)
    post = mf.infer(bridge.from_bqm(bqm, beta=3.0), 3)
    assert len(answer) == (len(post.modes) if num_reads is None else num_reads)
    assert answer.vartype is bqm.vartype
    assert answer.info["log_z"] == post.log_z
    assert answer.info["beta"] == 3.0
    np.testing.assert_array_equal(answer.record.weight, post.weights[answer.record.basin])


def test_modes_are_the_two_orientations():
    bqm = ferromagnet()
    answer = bridge.MixfieldSampler().sample(bqm, n_modes=2)
    assert answer.record.sample.tolist() == [[-1] * 5, [1] * 5]
    assert answer.record.basin.tolist() == [0, 1]
    assert answer.record.weight.sum() == pytest.approx(1.0)
    best = dimod.ExactSolver().sample(bqm).first
    assert answer.first.energy == pytest.approx(best.energy)
    energies = dimod.ExactSolver().sample(bqm).record.energy
    assert answer.info["log_z"] <= np.log(np.exp(-energies).sum())
    assert answer.info["log_z"] > np.log(np.exp(-energies).sum()) - 0.5


def test_draws_follow_the_mixture():
    """4000 draws: the standard error of a frequency is at most 0.008; five of them are allowed."""
    bqm = ferromagnet()
    answer = bridge.MixfieldSampler().sample(bqm, n_modes=2, num_reads=4000, seed=1)
    post = mf.infer(bridge.from_bqm(bqm), 2, rng=1)
    up = (answer.record.sample == 1).mean(0)
    np.testing.assert_allclose(up, post.marginals()[:, 1], atol=0.04)
    np.testing.assert_allclose(np.bincount(answer.record.basin) / 4000, post.weights, atol=0.04)
    for k, mode in enumerate(post.modes):
        rows = answer.record.sample[answer.record.basin == k]
        np.testing.assert_allclose((rows == 1).mean(0), mode.marginals[:, 1], atol=0.06)


def test_seeds_and_unknown_arguments():
    bqm, sampler = random_bqm(5, "SPIN", 1), bridge.MixfieldSampler()
    first, again, other = (sampler.sample(bqm, num_reads=50, seed=s).record.sample for s in (1, 1, 2))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)
    with pytest.warns(dimod.exceptions.SamplerUnknownArgWarning, match="annealing_time"):
        sampler.sample(bqm, annealing_time=20)
    with pytest.raises(MixfieldError, match="num_reads must be an integer >= 1"):
        sampler.sample(bqm, num_reads=0)


def test_seconds_limit_the_search():
    bqm, sampler = random_bqm(40, "SPIN", 5), bridge.MixfieldSampler()
    short, long = (sampler.sample(bqm, n_modes=12, beta=2.0, seconds=seconds) for seconds in (1e-6, None))
    assert 1 <= len(short) < len(long)
    assert "the time was over" in short.info["notes"][0]


def spin_glass(side, seed):
    """A torus with couplings -1 and 1."""
    rng = np.random.default_rng(seed)
    nodes = np.arange(side * side).reshape(side, side)
    pairs = [(i, j) for axis in (0, 1) for i, j in zip(nodes.ravel(), np.roll(nodes, -1, axis).ravel(), strict=True)]
    return dimod.BQM.from_ising({}, {(int(i), int(j)): rng.choice([-1.0, 1.0]) for i, j in pairs})


def test_many_minima_with_weights():
    bqm = spin_glass(10, 0)
    answer = bridge.MixfieldSampler().sample(bqm, n_modes=300)
    record, spins = answer.record, answer.record.sample.astype(int)
    assert len(answer) == 300
    dimod.testing.assert_response_energies(answer, bqm)
    assert record.weight.sum() == pytest.approx(1.0)
    assert (np.diff(record.weight) <= 0).all()
    assert record.basin.tolist() == list(range(300))
    assert (spins[:, None] != spins).sum(-1)[np.triu_indices(300, 1)].min() >= 2
    assert np.sort(record.energy)[-200] <= 0.95 * record.energy.min()
    assert answer.info["log_z"] >= -record.energy.min()


def test_seconds_limit_the_minima():
    bqm, sampler = spin_glass(12, 1), bridge.MixfieldSampler()
    short, long = (len(sampler.sample(bqm, n_modes=5000, seconds=seconds)) for seconds in (1e-6, 0.5))
    assert short <= 32 < long


def test_no_couplings_one_minimum():
    answer = bridge.MixfieldSampler().sample(dimod.BQM.from_ising({"a": 1.0, "b": -2.0}, {}), n_modes=5)
    assert answer.first.sample == {"a": -1, "b": 1}


def test_a_composite_of_dimod():
    """One that keeps the row of the lowest energy."""
    answer = dimod.TruncateComposite(bridge.MixfieldSampler(), 1).sample(ferromagnet(), n_modes=2)
    assert answer.record.sample.tolist() == [[-1] * 5]
    assert answer.record.basin.tolist() == [0]
