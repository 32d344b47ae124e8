"""Tables with forbidden states in which a product distribution leaves out much.

A product distribution Q without mass on forbidden states lives on a box of labels, B = B_1 x ... x B_a, in which a
table forbids nothing.  Where the states that a table allows are not a box (x = y, or z = x xor y), Q leaves some of
them out, and KL(Q || P) >= -log P(B).  P(B) is the belief of belief propagation, started at Q.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from mixfield.errors import NarrowedTablesWarning
from mixfield.mixture.clustered_cells import cell_of, restricted
from mixfield.solvers.belief_propagation import belief_propagation
from mixfield.solvers.collapsed import CollapsedSolver, collapsed
from mixfield.solvers.factor_graph import FactorGraphSolver
from mixfield.solvers.mode import Mode

Floats = NDArray[np.float64]

LISTED = 3  # tables in a sentence
LEAST_LOSS, FAR_OFF = 0.1, 1.0  # nats of one table that is named, and of all
ITERATIONS = 100

Table = tuple[tuple[int, ...], float]


def narrowed_tables(
    mode: Mode, whole: FactorGraphSolver, root: CollapsedSolver | None, limit: int
) -> tuple[Table, ...]:
    """Variables and loss -log P(B) of the tables of which a mode leaves allowed states out, largest loss first.

    Of tables that share variables only the one with the largest loss is listed: their losses do not add up.

    Parameters
    ----------
    mode : its heaviest cell is looked at.
    whole, root : solver of the whole graph, and of the variables that were kept before it was cut.
    limit : largest number of entries of the table of an eliminated variable and its neighbours.
    """
    heaviest = mode.components()[0][1]
    solver = restricted(whole, cell_of(heaviest, whole))
    q, given = heaviest.marginals.reshape(whole.allowed.shape), heaviest.conditionals
    if given is None:
        return _disjoint(_losses(solver, q))
    own = root if root is not None and np.array_equal(root.conditionals.kept, given.kept) else None
    own = own or collapsed(solver, limit, 1)
    if own is None:
        return _disjoint(_losses(solver, q))
    kept = own.conditionals.kept
    q = own.conditionals.kept_marginals(q)[:, : own.energy.n_labels]
    return _disjoint([(tuple(kept[list(scope)].tolist()), loss) for scope, loss in _losses(own, q)])


def warn_if_far_off(tables: Sequence[Table]) -> None:
    """Warn where the losses of tables add up to much."""
    total = math.fsum(loss for _, loss in tables)
    if total > FAR_OFF:
        listed = ", ".join(str(variables) for variables, _ in tables[:LISTED]) + ", ..." * (len(tables) > LISTED)
        warnings.warn(
            f"log_z is far below log Z, by about {total:.1f} nats in the heaviest mode: a product distribution leaves "
            f"out most states that tables with forbidden states allow, here those of variables {listed}; raise "
            "collapse, or use estimate=True or mf.exact",
            NarrowedTablesWarning,
            stacklevel=3,
        )


def _losses(solver: FactorGraphSolver, q: Floats) -> list[Table]:
    beliefs = belief_propagation(solver.energy, start=q, iterations=ITERATIONS)
    losses = []
    for scopes, tables in beliefs.tables:
        if scopes.shape[1] > 1:
            for scope, table in zip(scopes.tolist(), tables, strict=True):
                box = np.ix_(*(np.flatnonzero(q[v, :size] > 0) for v, size in zip(scope, table.shape, strict=True)))
                losses.append((tuple(scope), -math.log(max(float(table[box].sum()), 1e-300))))
    return losses


def _disjoint(tables: Sequence[Table]) -> tuple[Table, ...]:
    """Tables without common variables, the largest loss first."""
    found: list[Table] = []
    seen: set[int] = set()
    for variables, loss in sorted(tables, key=lambda table: -table[1]):
        if loss > LEAST_LOSS and not seen & set(variables):
            found.append((variables, loss))
            seen |= set(variables)
    return tuple(found)
