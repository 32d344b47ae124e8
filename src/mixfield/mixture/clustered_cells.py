"""Cells collapsed once more: a cut decides labels, and then variables can be summed out that could not before.

The labels of a strict cell are a factor graph of their own.  Labels that the cut rules out are removed, variables whose
tables have become small are eliminated, and the mean field of the rest is a mode of the same cell: its bound A_k may
replace the old one if it is higher, and cells stay disjoint.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from mixfield.constraints.cell import Cell
from mixfield.energy.factor_graph import FactorGraph
from mixfield.mixture.deadline import Deadline
from mixfield.mixture.posterior import MixturePosterior
from mixfield.mixture.restoring import restored_modes
from mixfield.solvers.collapsed import CollapsedSolver, collapsed
from mixfield.solvers.factor_graph import FactorGraphSolver
from mixfield.solvers.mode import Mode
from mixfield.solvers.tilt import Tilt

Floats = NDArray[np.float64]

COOLED, SWEEPS = 8, 1500  # random states that are cooled in each cell, besides its mode, if states are forbidden
HOTTEST = 3.0  # where they begin: T_max of hard tables is so high that most sweeps would be spent on noise


def with_collapsed_cells(
    posterior: MixturePosterior, whole: FactorGraphSolver, limit: int, rng: np.random.Generator, deadline: Deadline
) -> MixturePosterior:
    """The posterior with every mode replaced by that of its collapsed cell, where that has a higher bound.

    Parameters
    ----------
    posterior : of the whole graph.
    whole : solver of the whole graph.
    limit : largest number of entries of the table of an eliminated variable and its neighbours.
    rng, deadline : of the search.
    """
    modes = []
    for mode in posterior.modes:
        better = None if deadline.passed else _mode_of_cell(mode, whole, limit, rng)
        modes.append(better or mode)
    return _reordered(posterior, modes)


def _mode_of_cell(mode: Mode, whole: FactorGraphSolver, limit: int, rng: np.random.Generator) -> Mode | None:
    """The mode of the collapsed cell, if its bound is higher."""
    cell = cell_of(mode, whole)
    solver = collapsed(restricted(whole, cell), limit, 1) if cell.is_strict else None
    if solver is None:
        return None
    starts = _starts(solver, mode, rng)
    ascent = solver.solve(starts, Tilt.shared(np.where(solver.allowed, 0.0, np.inf), len(starts)))
    bounds = solver.bounds(ascent.q)
    best = int(np.argmax(bounds))
    if not bounds[best] > mode.log_z:
        return None
    found = replace(
        mode,
        marginals=ascent.q[best],
        log_z=float(bounds[best]),
        converged=bool(ascent.converged[best]),
        iterations=int(ascent.iterations[best]),
    )
    return restored_modes([found], solver.conditionals, whole.energy)[0]


def cell_of(mode: Mode, whole: FactorGraphSolver) -> Cell:
    """The cell that the constraints of a mode cut out."""
    cell = Cell(whole.allowed)
    for constraint in mode.constraints:
        cell = cell.cut(constraint)
    return cell


def restricted(whole: FactorGraphSolver, cell: Cell) -> FactorGraphSolver:
    """The solver of the graph with the labels of a cell."""
    graph: FactorGraph = whole.energy
    return FactorGraphSolver(replace(graph, unary=np.where(cell.allowed, graph.unary, np.inf)), whole.options)


def _starts(solver: CollapsedSolver, mode: Mode, rng: np.random.Generator) -> Floats:
    """(K, m, L') the marginals of the mode, and cooled random states where states are forbidden."""
    own = solver.conditionals.kept_marginals(mode.marginals.reshape(-1, mode.marginals.shape[-1]))
    own = np.where(solver.allowed, own[:, : solver.energy.n_labels] + 1e-12, 0.0)
    bias = np.where(solver.allowed, 0.0, np.inf)
    # without forbidden states the coolings of the tree have found the mode of the cell already
    count = COOLED if solver.whole.energy.has_hard_factors else 0
    cooled = solver.cooled_starts(count, bias, np.geomspace(HOTTEST, 1.0, SWEEPS), rng)
    return np.concatenate([(own / own.sum(-1, keepdims=True))[None], cooled])


def _reordered(posterior: MixturePosterior, modes: list[Mode]) -> MixturePosterior:
    """The posterior with other modes of the same cells, heaviest first."""
    order = sorted(range(len(modes)), key=lambda k: -modes[k].log_z)
    rank = {k: place for place, k in enumerate(order)}
    tree = tuple(
        node if node.mode < 0 else replace(node, mode=rank[node.mode], log_z=modes[node.mode].log_z)
        for node in posterior.tree
    )
    return replace(posterior, modes=tuple(modes[k] for k in order), tree=tree)
