"""log Z by belief propagation inside the cells: an estimate beside the bound.

The cells of a mixture are disjoint and cover all states, so that Z is the sum of their Z_k.  In each cell variables are
summed out, belief propagation starts at the cell's mean field, and where it converges the Bethe approximation B_k takes
the place of the bound A_k if it is above it:

    log Z ~ log sum_k exp(max(A_k, B_k)).

Beyond a tree B_k is not a bound, and neither is the estimate.
"""

from __future__ import annotations

import numpy as np

from mixfield import _simplex
from mixfield.mixture.clustered_cells import cell_of, restricted
from mixfield.mixture.deadline import Deadline
from mixfield.mixture.posterior import MixturePosterior
from mixfield.solvers.belief_propagation import belief_propagation
from mixfield.solvers.collapsed import collapsed
from mixfield.solvers.factor_graph import FactorGraphSolver
from mixfield.solvers.mode import Mode

ITERATIONS = 300  # where so many rounds do not converge, more seldom do


def bethe_log_z(posterior: MixturePosterior, whole: FactorGraphSolver, limit: int, deadline: Deadline) -> float:
    """An estimate of log Z that is at least ``posterior.log_z``.

    Parameters
    ----------
    posterior : of the whole graph.
    whole : solver of the whole graph.
    limit : largest number of entries of the table of an eliminated variable and its neighbours.
    deadline : cells that come after it keep their bounds.
    """
    cells = [cell for mode in posterior.modes for _, cell in mode.components()]
    estimates = [cell.log_z if deadline.passed else _estimate(cell, whole, limit) for cell in cells]
    return float(_simplex.log_sum_exp(np.array(estimates)))


def _estimate(mode: Mode, whole: FactorGraphSolver, limit: int) -> float:
    """max(A_k, B_k) of one cell."""
    cell = cell_of(mode, whole)
    if not cell.is_strict:
        return mode.log_z
    solver = restricted(whole, cell)
    smaller = collapsed(solver, limit, 1) if limit else None
    q = mode.marginals.reshape(whole.allowed.shape)
    if smaller is not None:
        solver, q = smaller, smaller.conditionals.kept_marginals(q)[:, : smaller.energy.n_labels]
    found = belief_propagation(solver.energy, start=q, iterations=ITERATIONS)
    return max(mode.log_z, found.log_z) if found.converged else mode.log_z
