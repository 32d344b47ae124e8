"""Damped parallel updates with an adaptive step, for energies of which only the field is known.

Natural-gradient ascent of Baqué et al. (2016): the logits move a step towards the field,
``theta <- (1 - eta) theta - eta field / T``.  A step that lets the free energy rise is taken back and halved.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mixfield import _simplex
from mixfield.energy.base import Energy, expectations, fields
from mixfield.solvers.ascent import Ascent
from mixfield.solvers.free_energy import entropies
from mixfield.solvers.tilt import Tilt

Floats = NDArray[np.float64]

FLOOR = 1e-30  # probability from which a label can still come back
CEILING = 1e8  # costs above it are as good as forbidden


def ascend(
    energy: Energy,
    q: Floats,
    tilt: Tilt,
    *,
    temperature: Floats,
    tolerance: float,
    max_iterations: int,
    slack: float = 1e-9,
) -> Ascent:
    """Update a batch of modes (K, n, L) to convergence; the free energy rises by no more than ``slack`` of itself."""
    n_modes = len(q)
    iterations, change = np.zeros(n_modes, np.int32), np.full(n_modes, np.inf)
    step, active = np.ones(n_modes), np.ones(n_modes, bool)
    heat = temperature[:, None, None]
    field = _field(energy, q, tilt)
    logits = np.where(np.isinf(field), -np.inf, np.log(np.maximum(q, FLOOR)))
    q = _simplex.softmax(logits)
    field, free = _field(energy, q, tilt), _free_energy(energy, q, tilt, temperature)
    last_move = np.zeros_like(q)
    while active.any():
        target = -field / heat
        eta = np.where(active, step, 0.0)[:, None, None]
        with np.errstate(invalid="ignore"):
            moved = np.where(np.isinf(field), -np.inf, (1.0 - eta) * logits + eta * target)
        new = _simplex.softmax(moved)
        new_free = _free_energy(energy, new, tilt, temperature)
        better = new_free <= free + slack * np.maximum(1.0, np.abs(free))
        accepted = active & better
        distance = np.abs(new - q).max(axis=(1, 2), initial=0.0)
        # where the free energy can no longer tell a step from a swing, its direction does
        back = ((new - q) * last_move).sum(axis=(1, 2)) < 0
        swings = back & (new_free >= free - slack * np.maximum(1.0, np.abs(free)))
        change = np.where(accepted, distance / np.maximum(step, 1e-12), change)
        iterations += active
        last_move[accepted] = (new - q)[accepted]
        logits[accepted], q[accepted], free[accepted] = moved[accepted], new[accepted], new_free[accepted]
        onwards = np.where(swings, 0.7 * step, np.minimum(1.0, 1.2 * step))
        step = np.where(accepted, onwards, np.where(active, 0.5 * step, step))
        stuck = step < 1e-6
        active &= (change > tolerance) & (iterations < max_iterations) & ~stuck
        if accepted.any():
            field = _field(energy, q, tilt)
    return Ascent(q, iterations, change, change <= tolerance)


def _field(energy: Energy, q: Floats, tilt: Tilt) -> Floats:
    field = np.minimum(fields(energy, q), CEILING)
    tilt.add_to(field, q)
    return field


def _free_energy(energy: Energy, q: Floats, tilt: Tilt, temperature: Floats) -> Floats:
    return expectations(energy, q) + tilt.expected(q) - temperature * entropies(q).sum(1)
