"""Posteriors of collapsed fields: marginals, samples, densities and cells by enumeration of all states."""

from __future__ import annotations

import naive
import numpy as np
import pytest

import mixfield as mf
from mixfield.errors import FileFormatError
from mixfield.mixture import tree
from mixfield.mixture.restoring import with_energies


def _hard():
    """Eleven variables of two or three labels in a ring with chords; some pairs of labels are forbidden."""
    rng = np.random.default_rng(5)
    counts = [2, 3, 2, 2, 3, 2, 2, 2, 2, 2, 2]
    pairs = [(i, (i + 1) % 11) for i in range(11)] + [(0, 5), (2, 8), (3, 9)]
    factors = [(pair, 1.5 * rng.normal(size=[counts[i] for i in pair])) for pair in pairs]
    factors[0][1][0, 2] = factors[4][1][1, 1] = np.inf
    return mf.FactorGraph.from_factors(counts, [*factors, ((7,), [0.0, np.inf])])


GRAPHS = {
    "mixed": lambda: mf.datasets.random_ising(4, preset="weller", rng=3),
    "attractive": lambda: mf.datasets.random_ising(4, attractive=True, rng=4),
    "potts": lambda: mf.FactorGraph.potts_grid(0.3 * np.random.default_rng(0).standard_normal((2, 4, 3)), 1.2),
    "hard": _hard,
}


@pytest.fixture(scope="module", params=[(name, largest) for name in GRAPHS for largest in (0, 1000)], ids=str)
def case(request):
    """A graph and its posterior; with modes over clusters none of its variables are kept."""
    name, largest = request.param
    graph = GRAPHS[name]()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tree, "FEWEST_KEPT", 5)
        patch.setattr(tree, "LARGEST_CLUSTERED", largest)
        return graph, mf.infer(graph, 5, collapse=27)


def _density(post, graph):
    every = naive.states(graph.label_counts)
    return every, np.exp(post.log_prob(every.reshape(-1, *graph.shape)))


def test_densities_and_marginals(case, request):
    graph, post = case
    cells = [cell.conditionals for mode in post.modes for _, cell in mode.components()]
    assert all(len(cell.variables) > 0 for cell in cells)
    clustered = request.node.callspec.params["case"][1] > 0
    assert all(len(cell.kept) > 0 for cell in cells) != clustered
    every, density = _density(post, graph)
    assert density.sum() == pytest.approx(1.0, abs=1e-10)
    marginals = post.marginals().reshape(graph.n, -1)
    for i in range(graph.n):
        for label in range(graph.label_counts[i]):
            assert marginals[i, label] == pytest.approx(density[every[:, i] == label].sum(), abs=1e-10)


def test_the_bound_is_strict_and_its_gap_is_the_divergence(case):
    graph, post = case
    every, density = _density(post, graph)
    used = density > 0
    cost = graph.of(every.reshape(-1, *graph.shape))
    divergence = (density[used] * (np.log(density[used]) + cost[used])).sum() + naive.log_z(graph)
    assert post.log_z <= naive.log_z(graph) + 1e-10
    assert divergence == pytest.approx(naive.log_z(graph) - post.log_z, abs=1e-9)
    assert post.exact_log_z == pytest.approx(naive.log_z(graph), abs=1e-9)


def test_cells_are_disjoint_and_modes_live_in_them(case):
    graph, post = case
    every, density = _density(post, graph)
    inside = np.stack([np.all([c.holds(every) for c in mode.constraints], 0) for mode in post.modes])
    possible = np.isfinite(graph.of(every.reshape(-1, *graph.shape)))
    np.testing.assert_array_equal(inside.sum(0)[possible], 1)
    for mode, rows, weight in zip(post.modes, inside, post.weights, strict=True):
        assert mode.mass_inside == pytest.approx(1.0, abs=1e-12)
        assert density[rows].sum() == pytest.approx(weight, abs=1e-10)
        assert mode.energy == graph.of(mode.labeling())
        assert np.isfinite(mode.energy)


def test_samples(case):
    """20,000 draws; 5 standard deviations and 1e-3 are exceeded with probability below 1e-6 a marginal."""
    graph, post = case
    draws = post.sample(20_000, rng=1).reshape(20_000, -1)
    frequencies = (draws[..., None] == np.arange(graph.n_labels)).mean(0)
    p = post.marginals().reshape(graph.n, -1)
    assert np.all(np.abs(frequencies - p) <= 5 * np.sqrt(p * (1 - p) / 20_000) + 1e-3)
    assert np.isfinite(post.log_prob(draws.reshape(-1, *graph.shape))).all()
    together = draws[:, 0] == draws[:, 1]
    every, density = _density(post, graph)
    p = density[every[:, 0] == every[:, 1]].sum()
    assert abs(together.mean() - p) <= 5 * np.sqrt(p * (1 - p) / 20_000) + 1e-3


def test_saved_and_loaded(case, tmp_path):
    graph, post = case
    for compact in (False, True):
        post.save(tmp_path / "one.npz", compact=compact)
        again = mf.load(tmp_path / "one.npz")
        np.testing.assert_array_equal(again.labelings(), post.labelings())
        np.testing.assert_array_equal(again.map(), post.map())
        assert (again.exact_log_z, again.map_energy) == (post.exact_log_z, post.map_energy)
        assert [mode.energy for mode in again.modes] == [mode.energy for mode in post.modes]
        every = naive.states(graph.label_counts)[::97].reshape(-1, *graph.shape)
        difference = np.exp(again.log_prob(every)) - np.exp(post.log_prob(every))
        assert np.abs(difference).max() <= (1e-3 if compact else 0.0)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("labels", lambda a: a[1:]),
        ("labels", lambda a: a + 5),
        ("labels", lambda a: a[:, ::-1] * np.array([1] + [-1] * (a.shape[1] - 1))),
        ("kept", lambda a: a[1:]),
        ("variables", lambda a: a[::-1]),
        ("scope_start", lambda a: a[1:]),
        ("scope", lambda a: a[:-1]),
        ("scope", lambda a: a + 1000),
        ("values", lambda a: a + 1.5),
        ("values", lambda a: a[1:]),
        ("choices", lambda a: a + 7),
        ("choices", lambda a: a.astype(np.int32)),
    ],
)
def test_damaged_tables_are_refused(name, change, tmp_path, monkeypatch):
    monkeypatch.setattr(tree, "FEWEST_KEPT", 5)
    monkeypatch.setattr(tree, "LARGEST_CLUSTERED", 0)  # some variables are kept
    post = mf.infer(GRAPHS["potts"](), 3, collapse=27)
    post.save(tmp_path / "one.npz")
    with np.load(tmp_path / "one.npz") as file:
        arrays = dict(file)
    arrays[f"conditionals_0_{name}"] = change(arrays[f"conditionals_0_{name}"])
    np.savez(tmp_path / "two.npz", **arrays)
    with pytest.raises(FileFormatError, match=r"two\.npz"):
        mf.load(tmp_path / "two.npz")


def test_the_best_state_known():
    graph = mf.datasets.random_ising(3, rng=1)
    post = mf.infer(graph, 2)
    assert post.map_energy == min(mode.energy for mode in post.modes)
    assert post.map_energy == graph.of(post.map())
    every = naive.states(graph.label_counts)
    best = with_energies(post, graph, [every[np.argmin(graph.of(every.reshape(-1, 3, 3)))]])
    assert best.map_energy == graph.of(every.reshape(-1, 3, 3)).min()
    bare = mf.MixturePosterior((mf.Mode(np.full((2, 2), 0.5), 0.0),))
    np.testing.assert_array_equal(bare.map(), bare.modes[0].labeling())
