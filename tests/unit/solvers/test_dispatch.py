"""Which solver serves which energy, and a solver of one's own through `mean_field` and `infer`."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import BlackBox
from curie_weiss import CurieWeiss, CurieWeissSolver
from rooms import random_masks, random_room

import mixfield as mf
from mixfield.mixture import Family, annealed_search, families, register_family
from mixfield.solvers import solver_for
from mixfield.solvers.dense import DenseSolver, RepulsiveDenseSolver
from mixfield.solvers.factor_graph import FactorGraphSolver
from mixfield.solvers.generic import GenericSolver
from mixfield.solvers.occupancy import OccupancySolver


def _dense(weight):
    return mf.DenseCRF(np.zeros((3, 4, 2)), [mf.Gaussian(1.0, weight)])


def test_each_energy_has_its_solver(two_wells):
    rng = np.random.default_rng(0)
    room = random_room(rng)
    people = mf.Occupancy(room, random_masks(rng, room))
    energies = (two_wells, _dense(2.0), _dense(-2.0), people, BlackBox(two_wells))
    kinds = (FactorGraphSolver, DenseSolver, RepulsiveDenseSolver, OccupancySolver, GenericSolver)
    assert [type(solver_for(energy)) for energy in energies] == list(kinds)
    assert [kind.family for kind in kinds] == ["factor_graph", "dense", "repulsive_dense", "occupancy", "generic"]
    assert all(kind.family in families._FAMILIES for kind in kinds)


def test_a_subclass_has_the_solver_of_its_class():
    class Field(mf.DenseCRF):
        pass

    assert type(solver_for(Field(np.zeros((3, 4, 2)), [mf.Gaussian(1.0)]))) is DenseSolver


def test_options_are_handed_on(two_wells):
    options = mf.Solver(tolerance=0.5, threads=3)
    for energy in (two_wells, _dense(2.0), _dense(-2.0), BlackBox(two_wells)):
        assert solver_for(energy, options).options is options


@pytest.fixture
def registered(monkeypatch):
    """A class of one's own with its solver and its family; other tests do not see them."""

    class Magnet(CurieWeiss):
        pass

    monkeypatch.setattr(families, "_FAMILIES", dict(families._FAMILIES))
    solver_for.register(Magnet)(lambda energy, options=None: CurieWeissSolver(energy, options))
    register_family("curie_weiss", Family(lambda energy: mf.criteria.Lookahead(), annealed_search))  # noqa: ARG005
    return Magnet


def test_a_solver_of_ones_own_gives_the_mean_field(registered):
    magnet = registered(np.full(8, 0.05), 1.8)
    solver = solver_for(magnet)
    assert type(solver) is CurieWeissSolver
    ours, general = mf.mean_field(magnet), mf.mean_field(CurieWeiss(np.full(8, 0.05), 1.8))
    assert ours.marginals == pytest.approx(general.marginals, abs=1e-5)
    assert ours.log_z == pytest.approx(general.log_z, abs=1e-8)
    assert type(solver_for(CurieWeiss(np.zeros(4), 1.0))) is GenericSolver


def test_a_solver_of_ones_own_serves_infer(registered):
    """The two wells of a magnet, with the exact odds of enumeration."""
    magnet = registered(np.full(8, 0.05), 1.8)
    CurieWeissSolver.runs = 0
    posterior = mf.infer(magnet, 2)
    assert CurieWeissSolver.runs > 10
    assert sorted(map(tuple, posterior.labelings().tolist())) == [(0,) * 8, (1,) * 8]
    general = mf.infer(CurieWeiss(np.full(8, 0.05), 1.8), 2)
    assert posterior.log_z == pytest.approx(general.log_z, abs=1e-4)
    assert posterior.log_z <= magnet.log_z() + 1e-9


def test_a_family_that_is_not_registered_is_named():
    class Lost(CurieWeiss):
        pass

    class LostSolver(CurieWeissSolver):
        family = "lost"

    solver_for.register(Lost)(lambda energy, options=None: LostSolver(energy, options))
    lost = Lost(np.zeros(4), 1.8)
    assert mf.mean_field(lost).converged
    with pytest.raises(mf.errors.MixfieldError, match=r"family 'lost' of LostSolver is not one of .*register_family"):
        mf.infer(lost, 2)
