"""Which solver serves which energy: the only place that looks at the type of an energy."""

from __future__ import annotations

from functools import singledispatch
from typing import Any

from mixfield.energy.dense_crf import DenseCRF
from mixfield.energy.factor_graph import FactorGraph
from mixfield.energy.occupancy import Occupancy
from mixfield.solvers.base import MeanFieldSolver
from mixfield.solvers.collapsed import CollapsedSolver, collapsed
from mixfield.solvers.dense import DenseSolver, RepulsiveDenseSolver
from mixfield.solvers.factor_graph import FactorGraphSolver
from mixfield.solvers.generic import GenericSolver
from mixfield.solvers.occupancy import OccupancySolver
from mixfield.solvers.options import Solver


@singledispatch
def solver_for(energy: Any, options: Solver | None = None) -> MeanFieldSolver:
    """The solver of an energy.

    Parameters
    ----------
    energy : any energy, see `mixfield.energy.base.Energy`.
    options : tolerance, iteration limit and threads.

    Notes
    -----
    A class of your own may bring a solver of its own::

        @solver_for.register
        def _(energy: MyEnergy, options: Solver | None = None) -> MeanFieldSolver:
            return MySolver(energy, options)
    """
    return GenericSolver(energy, options)


@solver_for.register
def _(energy: FactorGraph, options: Solver | None = None) -> MeanFieldSolver:
    return FactorGraphSolver(energy, options)


@solver_for.register
def _(energy: DenseCRF, options: Solver | None = None) -> MeanFieldSolver:
    return DenseSolver(energy, options) if energy.is_attractive else RepulsiveDenseSolver(energy, options)


@solver_for.register
def _(energy: Occupancy, options: Solver | None = None) -> MeanFieldSolver:
    return OccupancySolver(energy, options)


@singledispatch
def collapsed_solver(
    energy: Any,  # noqa: ARG001
    options: Solver | None = None,  # noqa: ARG001
    *,
    limit: int,  # noqa: ARG001
    keep: int,  # noqa: ARG001
) -> CollapsedSolver | None:
    """The solver of an energy from which variables are summed out; None where none can be.

    Parameters
    ----------
    energy : any energy; only those made of tables can be collapsed.
    options : tolerance, iteration limit and threads.
    limit : largest number of entries of the table of a variable and its neighbours that is summed over.
    keep : number of variables that are left.
    """
    return None


@collapsed_solver.register
def _(energy: FactorGraph, options: Solver | None = None, *, limit: int, keep: int) -> CollapsedSolver | None:
    return collapsed(FactorGraphSolver(energy, options), limit, keep)


def critical_temperature(energy: Any) -> float:
    """T_max = lambda / 2: at and above it the mean field is unique (pairwise energies) or nearly so (others).

    Parameters
    ----------
    energy : any energy; its Jacobian is probed at the uniform point by differences of ``local_field``, unless the
        energy declares a ``critical_temperature``.

    Examples
    --------
    >>> import mixfield as mf
    >>> from mixfield.solvers import critical_temperature
    >>> round(critical_temperature(mf.FactorGraph.ising([0.0, 0.0], [(0, 1)], 1.5)), 6)
    1.5
    """
    return solver_for(energy).critical_temperature()
