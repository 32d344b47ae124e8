"""Mean field of any energy: the best product distribution."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mixfield import _arrays
from mixfield.energy.active_labels import restored
from mixfield.energy.base import Energy, check
from mixfield.errors import InfeasibleWarning, MixfieldError, NotConvergedWarning
from mixfield.solvers import starts
from mixfield.solvers.base import MeanFieldSolver
from mixfield.solvers.dispatch import solver_for
from mixfield.solvers.mode import Mode
from mixfield.solvers.options import Solver
from mixfield.solvers.tilt import Tilt

Floats = NDArray[np.float64]

ANNEALING_STEPS = 20  # temperatures of ``anneal_from``


def mean_field(
    energy: Energy,
    *,
    temperature: float = 1.0,
    restarts: int = 1,
    rng: int | np.random.Generator = 0,
    start: ArrayLike | None = None,
    anneal_from: float | None = None,
    solver: Solver | None = None,
) -> Mode:
    """The best product distribution found from one or several starts.

    Parameters
    ----------
    energy : any energy, see `mixfield.energy.Energy`.
    temperature : T of ``P^T ~ exp(-E / T)``.
    restarts : number of starts; the first is nearly uniform, the others are random.
    rng : seed or generator.
    start : (*shape, L) marginals to start from instead (a warm start).
    anneal_from : come down from this temperature in small steps, each started from the one before.
    solver : tolerance, iteration limit and threads.

    Returns
    -------
    Mode
        With the highest bound.  ``converged`` is also a `NotConvergedWarning` when it is False.

    Examples
    --------
    >>> import mixfield as mf
    >>> mode = mf.mean_field(mf.FactorGraph.ising([0.1, 0.0], [(0, 1)], 2.0))
    >>> mode.labeling()
    array([1, 1])
    """
    check(energy)
    temperature = _arrays.positive("temperature", temperature)
    _arrays.at_least("restarts", restarts, 1)
    generator, field_solver = _arrays.generator(rng), solver_for(energy, solver)
    if restarts == 1 and start is None and anneal_from is None:
        mode = _single_mode(field_solver, temperature, generator)
    else:
        q = _starts(field_solver, start, restarts, generator)
        if anneal_from is not None:
            q = _annealed(field_solver, q, _arrays.positive("anneal_from", anneal_from), temperature)
        mode = field_solver.best_mode(q, temperature, generator)
    warn_if_doubtful([mode])
    return mode


def _single_mode(solver: MeanFieldSolver, temperature: float, rng: np.random.Generator) -> Mode:
    """The mean field from the solver's own start, without labels that cannot matter at T = 1."""
    reduced, labels = solver.reduced() if temperature == 1.0 else (solver, None)
    mode = reduced.mode(temperature, rng)
    if labels is None:
        return mode
    return replace(mode, marginals=restored(mode.marginals, labels, solver.energy.n_labels))


def _starts(solver: MeanFieldSolver, start: ArrayLike | None, count: int, rng: np.random.Generator) -> Floats:
    """(count, n, L) the given start or the solver's own, and random ones after that."""
    allowed = solver.allowed
    first = solver.first_start(allowed, rng) if start is None else _checked(solver, start)
    return np.stack([first, *(starts.random(allowed, rng) for _ in range(count - 1))])


def _checked(solver: MeanFieldSolver, start: ArrayLike) -> Floats:
    """A user's start (n, L), normalised over the allowed labels."""
    energy, allowed = solver.energy, solver.allowed
    q = _arrays.floats("start", start)
    _arrays.check_shape("start", q, (*energy.shape, energy.n_labels), "= (*shape, L) of the energy")
    q = np.where(allowed, q.reshape(allowed.shape), 0.0)
    if (q < 0).any() or not np.isfinite(q).all() or (q.sum(-1) <= 0).any():
        raise MixfieldError("start must hold probabilities, some of them positive on allowed labels of each variable")
    return np.asarray(q / q.sum(-1, keepdims=True))


def _annealed(solver: MeanFieldSolver, q: Floats, first: float, last: float) -> Floats:
    """Marginals (K, n, L) after a descent of the temperature."""
    tilt = Tilt.shared(np.where(solver.allowed, 0.0, np.inf), len(q))
    for temperature in np.geomspace(first, last, ANNEALING_STEPS)[:-1]:
        q = solver.solve(q, tilt, temperature=float(temperature), tolerance=1e-3).q
    return q


def warn_if_doubtful(modes: Sequence[Mode]) -> None:
    """Warn about what the fields of the modes say: not converged, or nothing feasible found."""
    late = sum(not mode.converged and mode.log_z > -np.inf for mode in modes)
    if late:
        warnings.warn(
            f"{late} of {len(modes)} mean fields stopped at their iteration limit; raise max_iterations "
            "or tolerance of mf.Solver",
            NotConvergedWarning,
            stacklevel=3,
        )
    lost = sum(mode.log_z == -np.inf for mode in modes)
    if lost:
        warnings.warn(
            f"{lost} of {len(modes)} mean fields put mass on forbidden states (log_z = -inf); try more restarts",
            InfeasibleWarning,
            stacklevel=3,
        )
