"""Cells cut further, to raise the bound and not the number of modes.

Each cell gets a mode over clusters of variables, see `mixfield.mixture.clustered_cells`.  What such a mode still loses
are the dependencies of a few variables on the others; a cell in which one of them is fixed loses less.  The parts of a
cell are disjoint, so that the mode of a leaf becomes the mixture of the modes of its parts:

    A = log sum_c exp(A_c).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from mixfield.constraints.cardinality import Cardinality
from mixfield.errors import InfeasibleError
from mixfield.mixture.clustered_cells import ClusteredCell, cell_of, solve_cell
from mixfield.mixture.deadline import Deadline
from mixfield.mixture.merging import merged_mode
from mixfield.mixture.posterior import MixturePosterior
from mixfield.solvers.factor_graph import FactorGraphSolver
from mixfield.solvers.mode import Mode

CELLS_PER_MODE = 4  # of all modes together
LEAST_GAP = 0.01  # nats by which every bound is supposed to be below log Z of its cell


def with_refined_cells(
    posterior: MixturePosterior, whole: FactorGraphSolver, limit: int, n_modes: int, deadline: Deadline
) -> MixturePosterior:
    """The posterior with higher bounds of the same modes.

    Parameters
    ----------
    posterior : of the whole graph.
    whole : solver of the whole graph.
    limit : largest number of entries of the table of an eliminated variable and its neighbours.
    n_modes : modes that were asked for; all together get `CELLS_PER_MODE` times as many cells.
    deadline : after which nothing is improved.
    """
    leaves = [[_clustered(mode, whole, limit, deadline)] for mode in posterior.modes]
    while sum(map(len, leaves)) < CELLS_PER_MODE * n_modes and not deadline.passed:
        leaf = max(leaves, key=lambda cells: max(map(_gap, cells)))
        worst = max(leaf, key=_gap)
        if not worst.cuts:
            break
        parts = _parts(worst, whole, limit)
        if _log_z(parts) > worst.mode.log_z:
            leaf.remove(worst)
            leaf += parts
    modes = [merged_mode(sorted((cell.mode for cell in leaf), key=lambda mode: -mode.log_z)) for leaf in leaves]
    return posterior.with_modes(modes)


def _clustered(mode: Mode, whole: FactorGraphSolver, limit: int, deadline: Deadline) -> ClusteredCell:
    """The cell of a mode, with the better of this mode and that over clusters."""
    cell = cell_of(mode, whole)
    if not cell.is_strict or deadline.passed:
        return ClusteredCell(cell, mode, mode.log_z)
    found = solve_cell(whole, cell, mode.marginals.reshape(whole.allowed.shape), limit)
    return found if found.mode.log_z > mode.log_z else replace(found, mode=mode)


def _gap(cell: ClusteredCell) -> float:
    """Log of what the bound of a cell is estimated to lack of its Z; -inf if it cannot be cut."""
    if not cell.cuts:
        return -np.inf
    estimate = cell.estimate if np.isfinite(cell.estimate) else -np.inf
    return cell.mode.log_z + float(np.log(np.expm1(max(estimate - cell.mode.log_z, LEAST_GAP))))


def _parts(cell: ClusteredCell, whole: FactorGraphSolver, limit: int) -> list[ClusteredCell]:
    """The two parts of a cell at its first cut, without one that has no states; this uses the cut up."""
    variable, label = cell.cuts.pop(0)
    cut = Cardinality(np.array([variable]), np.array([label]), 1)
    warm = cell.mode.marginals.reshape(whole.allowed.shape)
    parts = []
    for constraint in (cut, cut.opposite()):
        try:
            parts.append(solve_cell(whole, cell.cell.cut(constraint), warm, limit))
        except InfeasibleError:
            continue
    return parts


def _log_z(parts: Sequence[ClusteredCell]) -> float:
    """The bound of all parts; -inf if one of them has no mode."""
    bounds = [part.mode.log_z for part in parts]
    return float(np.logaddexp.reduce(bounds)) if bounds and min(bounds) > -np.inf else -np.inf
