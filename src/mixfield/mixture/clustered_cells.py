"""The mode of a cell as a mean field over clusters of variables.

The labels of a strict cell are a factor graph of their own.  Labels that cuts rule out are removed, variables whose
tables are small are summed out, and the rest is divided into clusters that can be solved exactly, see
`mixfield.solvers.clusters`.  The result is a mode of the same cell: it may replace the old one if its bound A_k is
higher, and cells stay disjoint.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from mixfield.constraints.cell import Cell
from mixfield.elimination.collapsing import collapse
from mixfield.elimination.conditionals import Conditionals
from mixfield.energy.factor_graph import FactorGraph
from mixfield.mixture.posterior import MixturePosterior
from mixfield.mixture.restoring import restored_modes
from mixfield.solvers.belief_propagation import Bethe, belief_propagation
from mixfield.solvers.clusters import ClusteredMode, ClusterSolver
from mixfield.solvers.collapsed import CollapsedSolver
from mixfield.solvers.factor_graph import FactorGraphSolver
from mixfield.solvers.mode import Mode

Floats = NDArray[np.float64]

ITERATIONS = 60  # of belief propagation, which says where to start and which dependencies are strong
LEAST = 1e-6  # probability of a label at the start
MOST_CUTS = 5  # that are tried
DIVIDED_TWICE = 256  # variables up to which two divisions into clusters are compared


@dataclass(eq=False)
class ClusteredCell:
    """A cell and its mode.

    Attributes
    ----------
    cell : strict.
    mode : of all variables.
    estimate : log Z of the cell by belief propagation; not a bound.
    cuts : variables and labels (of the whole field) where the mode loses most, the first the most.
    """

    cell: Cell
    mode: Mode
    estimate: float
    cuts: list[tuple[int, int]] = field(default_factory=list)


def solve_cell(whole: FactorGraphSolver, cell: Cell, warm: Floats, limit: int) -> ClusteredCell:
    """The mode of a strict cell; its bound is -inf if none was found.

    Parameters
    ----------
    whole : solver of the whole graph.
    cell : of it.
    warm : (n, L) marginals near which a mode is looked for, besides those of belief propagation.
    limit : largest number of entries of the table of an eliminated variable and its neighbours.

    Raises
    ------
    InfeasibleError
        The cell has no state of finite cost.
    """
    rest = collapse(restricted(whole, cell).energy, limit=limit, keep=0)
    if not rest.label_counts:
        constant = sum(float(table) for _, table in rest.factors)
        exact = ClusteredMode(-constant, rest.conditionals.values, converged=True)
        return ClusteredCell(cell, _mode(cell, exact, rest.conditionals, whole), -constant)
    graph = FactorGraph.from_factors(rest.label_counts, rest.factors)
    near = _start(warm, rest.conditionals, graph)
    beliefs = belief_propagation(graph, start=near, iterations=ITERATIONS)
    solver = ClusterSolver(graph, beliefs.dependence(), limit)
    starts = [near, beliefs.marginals] if np.isfinite(beliefs.marginals).all() else [near]
    found = max((solver.solve(q, graph.allowed) for q in starts), key=lambda mode: mode.log_z)
    mode = _mode(cell, found, solver.restored(found, rest.conditionals), whole)
    outside = [v for cluster in solver.clusters[1:] for v in cluster]
    return ClusteredCell(cell, mode, beliefs.log_z, _cuts(outside, mode, beliefs, rest.conditionals))


def with_clustered_modes(posterior: MixturePosterior, solver: CollapsedSolver, limit: int) -> MixturePosterior:
    """The posterior with modes over clusters of the variables that `solver` keeps, the same clusters in every cell.

    That takes a tenth of the time of `solve_cell`, and loses what could be summed out in single cells.
    """
    graph, given = solver.energy, solver.conditionals
    cells = [cell_of(mode, solver.whole) for mode in posterior.modes]
    near = [_start(_rows(mode), given, graph) for mode in posterior.modes]
    modes = list(posterior.modes)
    starts = [near[0], None] if len(graph.allowed) <= DIVIDED_TWICE else [near[0]]
    for start in starts:  # the strong dependencies of the heaviest mode, and of the field without one
        clusters = ClusterSolver(
            graph, belief_propagation(graph, start=start, iterations=ITERATIONS).dependence(), limit
        )
        for k in (k for k, cell in enumerate(cells) if cell.is_strict):
            allowed = given.kept_marginals(cells[k].allowed.astype(float))[:, : graph.n_labels] > 0
            found = clusters.solve(near[k], allowed)
            if found.log_z > modes[k].log_z:
                modes[k] = _mode(cells[k], found, clusters.restored(found, given), solver.whole)
    return posterior.with_modes(modes)


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


def _start(warm: Floats, given: Conditionals, graph: FactorGraph) -> Floats:
    """(m, L') marginals of the kept variables, from those (n, L) of the whole field."""
    q = np.where(graph.allowed, given.kept_marginals(warm)[:, : graph.n_labels] + LEAST, 0.0)
    return np.asarray(q / q.sum(-1, keepdims=True))


def _mode(cell: Cell, found: ClusteredMode, given: Conditionals, whole: FactorGraphSolver) -> Mode:
    """A mode of a cell whose variables all follow ``given``."""
    nothing = Mode(
        marginals=np.zeros((0, 1)),
        log_z=found.log_z,
        constraints=cell.constraints,
        converged=found.converged,
        iterations=found.iterations,
    )
    return restored_modes([nothing], given, whole.energy)[0]


def _rows(mode: Mode) -> Floats:
    """(n, L) marginals of a mode."""
    return mode.marginals.reshape(-1, mode.marginals.shape[-1])


def _cuts(outside: Iterable[int], mode: Mode, beliefs: Bethe, given: Conditionals) -> list[tuple[int, int]]:
    """Variables outside the largest cluster with their likeliest labels: first where a cut promises most.

    A variable in another cluster loses its dependence on the first, and with forbidden states most of its labels: what
    belief propagation says of both adds up.
    """
    q = given.kept_marginals(_rows(mode))[:, : beliefs.marginals.shape[1]]
    ratio = np.log(np.maximum(q, 1e-300) / np.maximum(beliefs.marginals, 1e-12))
    loss = np.where(q > 0, q * ratio, 0.0).sum(1) + beliefs.dependence()
    ranked = sorted(outside, key=lambda v: -loss[v])[:MOST_CUTS]
    labels = given.labels[given.kept, beliefs.marginals.argmax(1)]
    return [(int(given.kept[v]), int(labels[v])) for v in ranked]
