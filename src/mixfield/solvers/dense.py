"""Parallel updates of dense CRFs: one filtering of all modes and labels per iteration.

For attractive kernels the update ``q <- softmax(-local_field / T)`` is a convex-concave step: it minimises the entropy
term plus the tangent of the concave rest, so that the free energy cannot rise (Krähenbühl and Koltun, 2013).  It is
watched all the same, at no cost: the filtering that makes the next update also gives the free energy of the last.  A
mode whose free energy rises takes half steps from there on.

Soon only few pixels still move.  These are updated on their own between two updates of the whole field, which decide
when a mode has converged and what its probabilities are.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mixfield.energy.dense_crf import DenseCRF
from mixfield.filters.buffers import room
from mixfield.solvers.ascent import Ascent
from mixfield.solvers.dense_update import Iteration
from mixfield.solvers.packing import bias_of, pack, unpack
from mixfield.solvers.tilt import Tilt

Floats = NDArray[np.float64]
Float32s = NDArray[np.float32]

SETTLED = 1e-3  # change at which a dense field counts as converged if nobody says: A_k is within tenths of a nat
SINGLE = 1e-6  # smallest change that single precision can tell
RISE = 1e-6  # of its size; single precision cannot tell smaller changes of the free energy
FINE = 1e-2  # change below which the filters are no longer rough
SMALL = 1 << 14  # pixels up to which every update is an exact one of the whole field


def ascend(
    crf: DenseCRF,
    q: NDArray[np.floating],
    tilt: Tilt,
    *,
    temperature: Floats,
    tolerance: float,
    max_iterations: int,
    threads: int,
) -> Ascent:
    """Update a batch of modes (K, n, L) to convergence."""
    iteration = Iteration(crf, len(q), bias_of(tilt), threads=threads)
    values, run = climb(iteration, pack(crf, q), temperature, tolerance=tolerance, max_iterations=max_iterations)
    return Ascent(unpack(crf, values, len(q)), run.iterations, run.change, run.converged)


@dataclass(frozen=True)
class Climb:
    """How the updates went.

    Attributes
    ----------
    iterations, change, converged : (K,) updates, those of moving pixels alone included; the largest change of the last
        one, which is of the whole field, and whether it was below the tolerance.
    free_energies : (whole updates, K) before each update of the whole field; NaN where it is not known.
    """

    iterations: NDArray[np.int32]
    change: Floats
    converged: NDArray[np.bool_]
    free_energies: Floats


def climb(
    iteration: Iteration,
    values: Float32s | None,
    temperature: Floats,
    *,
    tolerance: float,
    max_iterations: int,
    alike: bool = False,
) -> tuple[Float32s, Climb]:
    """Update channels (n, channels * K), in place where that is possible, until no marginal moves by more than
    ``tolerance``.

    Without ``values``, pixels do not hear of each other at first.  ``alike`` says that all modes begin at the same
    point.
    """
    n_modes, heat = iteration.n_modes, np.asarray(temperature, np.float64)
    cooling = (1.0 / heat).astype(np.float32)
    iteration.forget()
    old, spare = iteration.start(cooling) if values is None else values, None
    alone, threshold = iteration.watch and iteration.crf.n > SMALL, max(tolerance, SETTLED)
    made, change = 0, np.full(n_modes, np.inf)
    damped, free = np.zeros(n_modes, bool), np.full(n_modes, np.inf)
    history, rough = [], iteration.crf.n > SMALL
    unary = np.full((n_modes, 2), np.nan)
    while made < max_iterations:
        if iteration.in_place and iteration.crf.is_attractive and not damped.any():
            new = old
        else:
            new = room(*old.shape) if spare is None else spare
            spare = old
        note = threshold if alone and iteration.calm and max_iterations - made > 2 else np.inf
        sums, change = iteration.step(old, cooling, new, rough=rough, alike=alike, note=note)
        known = unary[:, 0] - 0.5 * sums[:, 0] - heat * unary[:, 1]  # of ``old``, whose support is known only now
        history.append(known)
        risen = known > free + RISE * np.maximum(1.0, np.abs(free))
        damped |= risen & (not rough)
        free = np.where(np.isnan(known), free, known)
        unary = sums[:, 1:]
        made, alike = made + 1, False
        if (change <= tolerance).all() and not (rough and tolerance < FINE):
            old = new
            break
        if damped.any() and new is not old:  # in place, half steps begin with the next one
            _halve(iteration, old, new, damped)
            unary[damped] = np.nan
        elif alone:
            most = max_iterations - made - 1  # the last is one of the whole field
            terms, inner = iteration.settle_movers(cooling, new, threshold, rough=rough, most=most)
            unary, made = unary + terms, made + inner
        rough = rough and bool((change > FINE).any()) and not risen.any()
        old = new
    return old, Climb(np.full(n_modes, made, np.int32), change, change <= tolerance, np.array(history))


def _halve(iteration: Iteration, old: Float32s, new: Float32s, damped: NDArray[np.bool_]) -> None:
    """Take only half of the step, in place."""
    some = np.flatnonzero(np.tile(damped, iteration.crf.channels))
    new[:, some] = 0.5 * (new[:, some] + old[:, some])
