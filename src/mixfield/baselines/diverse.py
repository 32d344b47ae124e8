"""DivMBest (Batra et al. 2012) adapted to mean field: each solution is paid to differ from those before it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

import numpy as np

from mixfield import _arrays
from mixfield.energy.base import Energy, check
from mixfield.solvers import starts
from mixfield.solvers.dispatch import solver_for
from mixfield.solvers.mode import Mode
from mixfield.solvers.options import Solver
from mixfield.solvers.tilt import Tilt


def div_m_best(
    energy: Energy,
    n_modes: int,
    *,
    strength: float = 0.5,
    rng: int | np.random.Generator = 0,
    solver: Solver | None = None,
) -> tuple[Mode, ...]:
    """Several mean fields, each of the energy plus ``strength`` for every variable that repeats an earlier label.

    They come in the order found, without weights; ``log_z`` is the bound under the original energy.
    """
    _arrays.at_least("n_modes", n_modes, 1)
    return tuple(islice(diverse_modes(energy, strength=strength, rng=rng, solver=solver), n_modes))


def diverse_modes(
    energy: Energy, *, strength: float = 0.5, rng: int | np.random.Generator = 0, solver: Solver | None = None
) -> Iterator[Mode]:
    """The modes of `div_m_best` one by one, without end."""
    check(energy)
    field_solver = solver_for(energy, solver)
    bias = np.where(field_solver.allowed, 0.0, np.inf)
    start = starts.central(field_solver.allowed, _arrays.generator(rng))[None]
    while True:
        run = field_solver.solve(start, Tilt.shared(bias, 1))
        mode = Mode(
            marginals=_arrays.frozen(run.q[0].reshape(*energy.shape, energy.n_labels)),
            log_z=float(field_solver.bounds(run.q)[0]),
            converged=bool(run.converged[0]),
            iterations=int(run.iterations[0]),
        )
        yield mode
        bias[np.arange(len(bias)), mode.labeling().ravel()] += strength
