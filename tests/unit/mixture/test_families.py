"""The defaults of each family, and families of one's own."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import BlackBox
from rooms import random_masks, random_room

import mixfield as mf
from mixfield.errors import MixfieldError
from mixfield.mixture import Family, Search, families, no_search, register_family, start_tree
from mixfield.mixture.annealing_finder import AnnealingFinder
from mixfield.mixture.dense_finder import DenseModeFinder
from mixfield.mixture.direct_finder import DirectFinder
from mixfield.mixture.families import family_of


def tiny():
    return mf.DenseCRF(np.random.default_rng(2).normal(scale=0.2, size=(3, 4, 2)), [mf.Gaussian(1.5, 6.0)])


def test_a_firm_clamp_needs_a_dense_field(two_wells):
    with pytest.raises(MixfieldError, match="FirmClamp needs an attractive DenseCRF"):
        mf.infer(two_wells, 2, clamp=mf.constraints.FirmClamp())
    with pytest.raises(MixfieldError, match=r"FirmClamp needs an attractive DenseCRF and no search"):
        mf.infer(tiny(), 2, clamp=mf.constraints.FirmClamp(), search=Search())


def _finder(energy, **options):
    return start_tree(energy, **options).finder


def _people():
    rng = np.random.default_rng(0)
    room = random_room(rng, (3, 4))
    return mf.Occupancy(room, random_masks(rng, room))


def _dense(weight):
    return mf.DenseCRF(np.zeros((4, 5, 2)), [mf.Gaussian(1.5, weight)])


ENERGIES = {
    "factor_graph": lambda: mf.datasets.random_ising(3),
    "generic": lambda: BlackBox(mf.datasets.random_ising(3)),
    "dense": lambda: _dense(4.0),
    "repulsive_dense": lambda: _dense(-4.0),
    "occupancy": _people,
}
DEFAULTS = {
    "factor_graph": (mf.criteria.Lookahead, AnnealingFinder),
    "generic": (mf.criteria.Lookahead, AnnealingFinder),
    "dense": (mf.criteria.MostPlausible, DenseModeFinder),
    "repulsive_dense": (mf.criteria.MostPlausible, AnnealingFinder),
    "occupancy": (mf.criteria.FieldRanked, DirectFinder),
}


@pytest.mark.parametrize("family", DEFAULTS)
def test_defaults_of_each_family(family):
    tree = start_tree(ENERGIES[family](), search=None)
    assert tree.solver.family == family
    assert (type(tree.criterion), type(tree.finder)) == DEFAULTS[family]


@pytest.mark.parametrize("family", ["factor_graph", "generic", "dense", "repulsive_dense", "occupancy"])
def test_a_search_that_is_asked_for_is_made(family):
    search = Search(root=2, root_sweeps=5)
    finder = _finder(ENERGIES[family](), search=search)
    assert type(finder) is AnnealingFinder
    assert finder.search is search


def test_clamps_that_are_asked_for_are_taken():
    soft, firm = mf.constraints.Clamp(epsilon=0.01), mf.constraints.FirmClamp(epsilon=0.01)
    assert _finder(ENERGIES["factor_graph"](), clamp=soft).clamp is soft
    assert _finder(ENERGIES["dense"](), clamp=firm).clamp is firm
    assert type(_finder(ENERGIES["dense"](), clamp=soft)) is AnnealingFinder
    people = _finder(_people())
    assert people.clamp == mf.constraints.Clamp(seeded=True, bisections=0)
    assert people.n_temperatures == 24


def test_criteria_limit_the_overlap_of_dense_modes():
    assert _finder(_dense(4.0)).distinct == 0.995
    assert _finder(_dense(4.0), criterion=mf.criteria.MostPlausible(distinct=0.9)).distinct == 0.9
    assert _finder(_dense(4.0), criterion=mf.criteria.MeltingWindows()).distinct == 1.0


def test_a_family_that_is_registered_again_is_replaced(monkeypatch):
    monkeypatch.setattr(families, "_FAMILIES", dict(families._FAMILIES))
    asked = []

    def criterion(energy):
        asked.append(energy)
        return mf.criteria.Lookahead(proposals=1)

    register_family("factor_graph", Family(criterion, no_search))
    graph = mf.datasets.random_ising(3)
    tree = start_tree(graph)
    assert asked == [graph]
    assert tree.criterion.proposals == 1
    assert type(tree.finder) is DirectFinder
    assert family_of(tree.solver).finder is no_search
