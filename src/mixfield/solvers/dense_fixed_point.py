"""Updates of a dense field until nothing changes.

For attractive kernels the update is a convex-concave step: it minimises the entropy term plus the tangent of the
concave rest, so that the free energy cannot rise (Krähenbühl and Koltun, 2013).  It is monitored all the same, at no
cost: the filtering of an update also gives the free energy of the values before it.  A mode whose free energy rises
takes half steps from there on.

Soon only few pixels still change.  These are updated alone, several times between two updates of the whole field, which
decide about convergence.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mixfield import _threads, kernels
from mixfield.filters.buffers import aligned_empty
from mixfield.solvers.dense_subset import SubsetRun, SubsetUpdate
from mixfield.solvers.dense_update import DenseUpdate, Movers, Step
from mixfield.solvers.layout import Layout

Floats = NDArray[np.float64]
Float32s = NDArray[np.float32]
Modes = NDArray[np.intp]

TOLERANCE = 1e-3  # default change at which a dense field has converged: A_k is within tenths of a nat
FINEST_TOLERANCE = 1e-6  # smallest change that single precision can resolve
RISE = 1e-6  # relative rise of the free energy that single precision cannot resolve
SMALL_FIELD = 1 << 14  # pixels up to which every update is one of the whole field
MOVER_SHARE = 0.1  # of the tolerance: pixels that change by more are movers
EARLY_SHARE = 1e-3  # of the last change, where that is more
FEW_MOVERS = 0.15  # share of pixels up to which movers are updated alone
MOVER_NUMBERS = 1 << 22  # of the marginals of these pixels, at most: each is copied several times
SAMPLING = 101  # one of so many pixels estimates the share of movers; odd, to meet all columns of an image
PARTIAL_UPDATES = 16  # at most, between two updates of the whole field
FALL = 0.1  # share of the last change of the whole field at which partial updates end: its other pixels move too
TOGETHER = 4  # marginals of a pixel that are updated in the time of one


@dataclass(frozen=True)
class Convergence:
    """How the updates of K modes went.

    Attributes
    ----------
    iterations : (K,) updates, those of few pixels included.
    change : (K,) largest change of the last update, which is one of the whole field.
    converged : (K,) whether few enough pixels changed by more than the tolerance, none by default.
    free_energies : (updates of the whole field, K) before each of them; NaN where not known.
    """

    iterations: NDArray[np.int32]
    change: Floats
    converged: NDArray[np.bool_]
    free_energies: Floats


def iterate(
    update: DenseUpdate, values: Float32s | None, temperature: Floats, *, tolerance: float, max_iterations: int,
    stragglers: float = 0.0, given_up: Callable[[Float32s], bool] = lambda values: False,  # noqa: ARG005
) -> tuple[Float32s, Convergence]:  # fmt: skip
    """Update channels (n, C) until no marginal changes by more than ``tolerance``.

    Parameters
    ----------
    values : where to begin, which is not overwritten; softmax(-(U + bias) / T) if None.
    temperature : (K,) T of each mode.
    stragglers : share of the pixels of a mode that may still change by more when it has converged.
    given_up : whether values (n, C) on the way are not worth any further update.
    """
    crf, large = update.crf, update.crf.n > SMALL_FIELD
    beta, change = (1.0 / temperature).astype(np.float32), np.ones(update.n_modes)
    update.invalidate()
    few_expected = values is not None  # the field around a known point is at rest
    rough = large and not few_expected  # as long as everything moves, nothing has to be undone
    borrowed, values = values is not None, update.start(beta) if values is None else values
    monitor, spare, made = _FreeEnergy(temperature), None, 0
    while made < max_iterations:
        threshold = max(MOVER_SHARE * tolerance, EARLY_SHARE * float(change.max()))
        sample = values[::SAMPLING].copy()
        new = None
        if borrowed or not (update.in_place and crf.is_attractive and not monitor.damped.any()):
            new = update.layout.empty() if spare is None else spare
        look = large and few_expected and max_iterations - made > 1
        step = update.step(values, beta, new, rough=rough, movers_above=threshold if look else np.inf)
        monitor.add(step.support, step.cost, step.entropy, rough=rough)
        made, change = made + 1, step.change
        old, values, spare = values, values if new is None else new, None if new is None or borrowed else values
        borrowed = False
        moving = (step.change > tolerance) | rough
        if stragglers and step.movers is not None:
            moving &= _far(update.layout, step.movers, values, tolerance) > stragglers * crf.n
        if not moving.any() or given_up(values):
            break
        if monitor.damped.any() and new is not None:  # after a step in place, half steps begin with the next one
            _halve(update, old, values, monitor.damped)
            monitor.forget(monitor.damped)
        elif large:
            few_expected = _share(update.layout, sample, values[::SAMPLING], threshold) <= 2 * FEW_MOVERS
            rough = rough and not few_expected
            most = min(PARTIAL_UPDATES, max_iterations - made)
            runs = _update_movers(update, step, np.flatnonzero(moving), beta, values, threshold, most)
            for modes, run in runs:
                monitor.correct(modes, run.cost, run.entropy)
            made += max((run.updates for _, run in runs), default=0)
    iterations = np.full(update.n_modes, made, np.int32)
    return values, Convergence(iterations, step.change, ~moving, np.array(monitor.history))


class _FreeEnergy:
    """F = E_q[E] - T H(q) of each mode, known one update late; modes for which it rises are ``damped``."""

    def __init__(self, temperature: Floats) -> None:
        n_modes = len(temperature)
        self._temperature = temperature
        self._cost, self._entropy = np.full(n_modes, np.nan), np.full(n_modes, np.nan)
        self._last = np.full(n_modes, np.inf)
        self.damped = np.zeros(n_modes, bool)
        self.history: list[Floats] = []

    def add(self, support: Floats, cost: Floats, entropy: Floats, *, rough: bool) -> None:
        """Complete the free energy before an update by its support."""
        free = self._cost - 0.5 * support - self._temperature * self._entropy
        self.history.append(free)
        self.damped |= (free > self._last + RISE * np.maximum(1.0, np.abs(self._last))) & (not rough)
        self._last = np.where(np.isnan(free), self._last, free)
        self._cost, self._entropy = cost.copy(), entropy.copy()

    def correct(self, modes: NDArray[np.intp], cost: Floats, entropy: Floats) -> None:
        """Add what changed after the update."""
        self._cost[modes] += cost
        self._entropy[modes] += entropy

    def forget(self, modes: NDArray[np.bool_]) -> None:
        """The values of some modes have changed in a way that is not known."""
        self._cost[modes] = np.nan


def _update_movers(
    update: DenseUpdate, step: Step, moving: Modes, beta: Float32s, values: Float32s, threshold: float, most: int
) -> list[tuple[Modes, SubsetRun]]:
    """Go on with the movers of the last update, in place, all other pixels fixed; at ``most`` so many updates.

    Returns the modes that were updated together, of those ``moving``, and how it went.  Modes with too many movers are
    left out.
    """
    movers, layout = step.movers, update.layout
    if movers is None or most <= 0 or movers.support.size > MOVER_NUMBERS:
        return []
    after, count = values.take(movers.points, 0), max(1, TOGETHER // layout.stored)
    groups = np.split(moving, range(count, len(moving), count))

    def run(k: int) -> tuple[Modes, SubsetRun] | None:
        modes = groups[k]
        own, current = _of_modes(layout, modes, movers, after, threshold)
        if not 0 < len(own.points) <= FEW_MOVERS * update.crf.n:
            return None
        enough = np.maximum(threshold, FALL * step.change[modes])
        found = SubsetUpdate(update, modes, own, beta[modes]).run(current, enough, most)
        channels = layout.channels(modes)
        values[own.points[:, None], channels] = found.values[:, : len(channels)]
        return modes, found

    runs = _threads.each(run, len(groups), update.threads, updates=movers.support.size * most)
    return [one for one in runs if one is not None]


def _of_modes(
    layout: Layout, modes: Modes, movers: Movers, after: Float32s, threshold: float
) -> tuple[Movers, Float32s]:
    """The movers of some modes with the channels of these, and their values; ``after`` (p, C) has all modes."""
    if len(modes) == layout.n_modes:
        return movers, after
    own = aligned_empty(3, len(after), layout.of(len(modes)).width, pool=layout.pool)
    rows, channels = np.empty(len(after), np.int64), layout.channels(modes)
    count = kernels.softmax.moved_rows(movers.before, after, movers.support, channels, np.float32(threshold), rows, own)
    before, values, support = own[:, :count]
    return Movers(movers.points[rows[:count]], support, before), values


def _far(layout: Layout, movers: Movers, values: Float32s, tolerance: float) -> NDArray[np.intp]:
    """(K,) how many movers of each mode the last update has changed by more than the tolerance."""
    far = np.abs(values.take(movers.points, 0) - movers.before)[:, : layout.used] > tolerance
    return np.asarray(far.reshape(-1, layout.stored, layout.n_modes).any(1).sum(0))


def _share(layout: Layout, before: Float32s, after: Float32s, threshold: float) -> float:
    """Share of the pixels of a sample that have changed by more than a threshold, on average over the modes."""
    moved = np.abs(after - before) > threshold
    return float(np.mean([moved[:, mode :: layout.n_modes].any(1).mean() for mode in range(layout.n_modes)]))


def _halve(update: DenseUpdate, old: Float32s, new: Float32s, damped: NDArray[np.bool_]) -> None:
    """Take only half of the step of some modes, in place."""
    columns = np.flatnonzero(np.tile(damped, update.layout.stored))
    new[:, columns] = 0.5 * (new[:, columns] + old[:, columns])
