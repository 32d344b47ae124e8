"""Seeded synthetic fields."""

from __future__ import annotations

import numpy as np
import pytest

import mixfield as mf
from mixfield.errors import MixfieldError


def _spins(graph):
    """Couplings (m,) and fields (n,) of an Ising graph."""
    return -graph.tables[graph.table_of, 0, 0], -graph.unary[:, 1]


@pytest.mark.parametrize(("preset", "strength", "bias"), [("mmmf", 3.0, 2.0), ("weller", 1.5, 1.0)])
@pytest.mark.parametrize("attractive", [False, True])
def test_presets_fill_their_ranges(preset, strength, bias, attractive):
    graph = mf.datasets.random_ising(30, preset=preset, attractive=attractive, rng=1)
    coupling, field = _spins(graph)
    assert graph.shape == (30, 30)
    assert len(coupling) == 2 * 30 * 29
    assert (0 if attractive else -strength) <= coupling.min()
    assert coupling.min() < (0.02 if attractive else -0.98 * strength)
    assert 0.98 * strength < coupling.max() <= strength
    assert -bias <= field.min() < -0.98 * bias
    assert 0.98 * bias < field.max() <= bias


def test_weller_preset_is_the_convention_of_the_paper():
    """theta x + W/2 [x = x'] with |W| <= 6 and |theta| <= 2 has J = W / 4 and h = theta / 2 in spins."""
    assert mf.datasets.PRESETS["weller"] == (6 / 4, 2 / 2)


def test_seeds_repeat():
    one, same, other = (mf.datasets.random_ising(5, rng=seed) for seed in (3, 3, 4))
    assert one.unary.tobytes() == same.unary.tobytes() != other.unary.tobytes()
    assert one.tables.tobytes() == same.tables.tobytes()


def test_random_topology_has_as_many_edges_between_any_pairs():
    grid, graph = (mf.datasets.random_ising(6, topology=t, rng=0) for t in ("grid", "random"))
    assert len(graph.edges) == len(grid.edges)
    assert len({tuple(e) for e in graph.edges.tolist()}) == len(graph.edges)
    assert np.abs(np.diff(graph.edges, axis=1)).max() > 6


@pytest.mark.parametrize("size", [8, 16, 7])
def test_four_zones(size):
    graph = mf.datasets.four_zones(size, weak=0.1, strong=1.0, evidence=1.0, noise=0.5, rng=0)
    coupling, field = _spins(graph)
    half = size // 2
    row, column = np.divmod(np.arange(size * size), size)
    field = field.reshape(size, size)
    np.testing.assert_array_equal(field[:half], 1.0)
    for part in (field[half:, :half], field[half:, half:]):
        assert part.sum() == pytest.approx(0.0, abs=1e-12)
        assert np.abs(part).max() <= 1.0
        assert part.std() > 0.1
    for (a, b), j in zip(graph.edges, coupling, strict=True):
        same_zone = (row[a] >= half) == (row[b] >= half) and (column[a] >= half) == (column[b] >= half)
        assert j == pytest.approx(1.0 if same_zone and column[a] >= half else 0.1)


def test_four_zones_options_change_the_answer():
    first = mf.datasets.four_zones(8)
    for options in ({"weak": 0.2}, {"strong": 2.0}, {"evidence": 0.5}, {"noise": 0.1}, {"rng": 1}):
        other = mf.datasets.four_zones(8, **options)
        x = np.random.default_rng(0).integers(0, 2, (8, 8))
        assert abs(other.of(x) - first.of(x)) > 0.05


@pytest.mark.parametrize(
    ("build", "sentence"),
    [
        (lambda: mf.datasets.random_ising(preset="x"), r"preset must be one of \['mmmf', 'weller'\], got 'x'"),
        (lambda: mf.datasets.random_ising(topology="ring"), "topology must be 'grid' or 'random', got 'ring'"),
        (lambda: mf.datasets.random_ising(0), "size must be an integer >= 1, got 0"),
        (lambda: mf.datasets.four_zones(1), "size must be an integer >= 2, got 1"),
        (lambda: mf.datasets.four_zones(4, rng=-1), "rng must be a seed"),
    ],
)
def test_wrong_input(build, sentence):
    with pytest.raises(MixfieldError, match=sentence):
        build()
