"""Leaves of small fields that the tests of criteria share."""

from __future__ import annotations

import numpy as np

import mixfield as mf
from mixfield.constraints.cell import Cell
from mixfield.criteria.annealed import AnnealedMarginals
from mixfield.criteria.leaf import Leaf
from mixfield.criteria.optima import Optima
from mixfield.energy import grid_edges
from mixfield.solvers import critical_temperature, solver_for
from mixfield.solvers.temperature import temperature_steps

RIGHT = {i for i in range(32) if i % 8 >= 4}  # the right half of `blocks`


def blocks():
    """A 4 x 8 grid: the left half certain whatever the temperature, the right half two wells with a transition."""
    field = np.zeros((4, 8))
    field[:, :4] = 6.0
    field[:, 4:] = 0.02
    edges = grid_edges((4, 8))
    within = (edges[:, 0] % 8 >= 4) == (edges[:, 1] % 8 >= 4)
    return mf.FactorGraph.ising(field, edges, np.where(within, 1.0, 0.0))


def leaf_of(energy, *, start=None, cell=None, steps=12, seed=0):
    """A leaf with the mean field from a start as its mode."""
    mode, solver, rng = mf.mean_field(energy, start=start), solver_for(energy), np.random.default_rng(seed)
    q = np.array(mode.marginals, np.float64).reshape(-1, energy.n_labels)
    return Leaf(
        solver=solver,
        cell=cell or Cell(np.ones(q.shape, bool)),
        q=q,
        log_z=mode.log_z,
        temperatures=temperature_steps(max(1.0, critical_temperature(energy)), steps),
        optima=Optima(*q.shape, capacity=16),
        annealed=AnnealedMarginals(solver, rng),
        rng=rng,
    )
