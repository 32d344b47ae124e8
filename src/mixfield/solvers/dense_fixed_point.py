"""Updates of a dense field until nothing changes.

For attractive kernels the update is a convex-concave step: it minimises the entropy term plus the tangent of the
concave rest, so that the free energy cannot rise (Krähenbühl and Koltun, 2013).  It is monitored all the same, at no
cost: the filtering of an update also gives the free energy of the values before it.  A mode whose free energy rises
takes half steps from there on.

Soon only few pixels still change.  These are updated alone, several times between two updates of the whole field, which
decide about convergence.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mixfield import kernels
from mixfield.solvers.dense_subset import SubsetUpdate
from mixfield.solvers.dense_update import DenseUpdate, Movers

Floats = NDArray[np.float64]
Float32s = NDArray[np.float32]

TOLERANCE = 1e-3  # default change at which a dense field has converged: A_k is within tenths of a nat
FINEST_TOLERANCE = 1e-6  # smallest change that single precision can resolve
RISE = 1e-6  # relative rise of the free energy that single precision cannot resolve
EXACT_BELOW = 1e-2  # change below which filters are no longer rough
SMALL_FIELD = 1 << 14  # pixels up to which every update is an exact one of the whole field
FEW_MOVERS = 0.15  # share of pixels up to which movers are updated alone
MOVER_NUMBERS = 1 << 22  # of the marginals of these pixels, at most: each is copied several times
SAMPLING = 101  # one of so many pixels estimates the share of movers; odd, to meet all columns of an image
PARTIAL_UPDATES = 8  # at most, between two updates of the whole field


@dataclass(frozen=True)
class Convergence:
    """How the updates of K modes went.

    Attributes
    ----------
    iterations : (K,) updates, those of few pixels included.
    change : (K,) largest change of the last update, which is one of the whole field.
    converged : (K,) whether it was below the tolerance.
    free_energies : (updates of the whole field, K) before each of them; NaN where not known.
    """

    iterations: NDArray[np.int32]
    change: Floats
    converged: NDArray[np.bool_]
    free_energies: Floats


@dataclass
class MoverStatistics:
    """The share of pixels that moved in the last update, and whether few are expected to move in the next.

    It belongs to one `DenseUpdate` and is kept from one run to the next.
    """

    share: float = np.inf
    few_expected: bool = True

    def observe(self, before: Float32s, after: Float32s, threshold: float, few: float = FEW_MOVERS) -> None:
        """Take the values of a sample of pixels before and after an update; ``few`` is a share of the pixels."""
        share = len(kernels.softmax.movers(before, after, np.float32(threshold))) / len(after)
        self.few_expected = share * min(1.0, share / self.share) <= 2 * few
        self.share = max(share, 1e-9)


def iterate(
    update: DenseUpdate,
    values: Float32s | None,
    temperature: Floats,
    *,
    tolerance: float,
    max_iterations: int,
    statistics: MoverStatistics | None = None,
    same_start: bool = False,
) -> tuple[Float32s, Convergence]:
    """Update channels (n, C), in place where possible, until no marginal changes by more than ``tolerance``.

    Parameters
    ----------
    values : where to begin; softmax(-(U + bias) / T) if None.
    temperature : (K,) T of each mode.
    statistics : those of the last run with the same ``update``.
    same_start : all modes begin at the same point.
    """
    n_modes, large = update.n_modes, update.crf.n > SMALL_FIELD
    beta = (1.0 / temperature).astype(np.float32)
    update.invalidate()
    statistics = statistics or MoverStatistics()
    if values is None:
        values, statistics = update.start(beta), MoverStatistics(share=1.0, few_expected=False)
    threshold, rough, made = max(tolerance, TOLERANCE), large, 0
    monitor, change = _FreeEnergy(temperature), np.full(n_modes, np.inf)
    spare: Float32s | None = None
    while made < max_iterations:
        sample = values[::SAMPLING].copy()
        new = None
        if not (update.in_place and update.crf.is_attractive and not monitor.damped.any()):
            new = update.layout.zeros() if spare is None else spare
        look = large and statistics.few_expected and max_iterations - made > 2
        step = update.step(
            values, beta, new, rough=rough, same_start=same_start, movers_above=threshold if look else np.inf
        )
        risen, change = monitor.add(step.support, step.cost, step.entropy, rough=rough), step.change
        made, same_start = made + 1, False
        old, values, spare = values, values if new is None else new, None if new is None else values
        if (change <= tolerance).all() and not (rough and tolerance < EXACT_BELOW):
            break
        if monitor.damped.any() and new is not None:  # after a step in place, half steps begin with the next one
            _halve(update, old, values, monitor.damped)
            monitor.forget(monitor.damped)
        elif large:
            statistics.observe(sample, values[::SAMPLING].copy(), threshold, _few_movers(update))
            most = max_iterations - made - 1  # the last update is one of the whole field
            cost, entropy, inner = _update_movers(update, step.movers, beta, values, threshold, rough=rough, most=most)
            monitor.correct(cost, entropy)
            made += inner
        rough = rough and bool((change > EXACT_BELOW).any()) and not risen.any()
    return values, Convergence(np.full(n_modes, made, np.int32), change, change <= tolerance, np.array(monitor.history))


class _FreeEnergy:
    """F = E_q[E] - T H(q) of each mode, known one update late; modes for which it rises are ``damped``."""

    def __init__(self, temperature: Floats) -> None:
        n_modes = len(temperature)
        self._temperature = temperature
        self._cost, self._entropy = np.full(n_modes, np.nan), np.full(n_modes, np.nan)
        self._last = np.full(n_modes, np.inf)
        self.damped = np.zeros(n_modes, bool)
        self.history: list[Floats] = []

    def add(self, support: Floats, cost: Floats, entropy: Floats, *, rough: bool) -> NDArray[np.bool_]:
        """Complete the free energy before an update by its support; returns the modes for which it has risen."""
        free = self._cost - 0.5 * support - self._temperature * self._entropy
        self.history.append(free)
        risen = free > self._last + RISE * np.maximum(1.0, np.abs(self._last))
        self.damped |= risen & (not rough)
        self._last = np.where(np.isnan(free), self._last, free)
        self._cost, self._entropy = cost.copy(), entropy.copy()
        return np.asarray(risen)

    def correct(self, cost: Floats, entropy: Floats) -> None:
        """Add what changed after the update."""
        self._cost, self._entropy = self._cost + cost, self._entropy + entropy

    def forget(self, modes: NDArray[np.bool_]) -> None:
        """The values of some modes have changed in a way that is not known."""
        self._cost[modes] = np.nan


def _update_movers(
    update: DenseUpdate,
    movers: Movers | None,
    beta: Float32s,
    values: Float32s,
    threshold: float,
    *,
    rough: bool,
    most: int,
) -> tuple[Floats, Floats, int]:
    """Go on with the pixels that moved in the last update, in place, all others fixed.

    Returns
    -------
    (K,) rise of the cost and of the entropy, and the number of updates, at ``most``.
    """
    none = np.zeros(update.n_modes)
    if movers is None or most <= 0 or not 0 < len(movers.points) <= _few_movers(update) * update.crf.n:
        return none, none, 0
    subset, first = SubsetUpdate(update, movers.points), values[movers.points]
    current, made = first, 0
    while made < min(PARTIAL_UPDATES, most):
        made += 1
        current, change = subset.step(current, beta, movers.support, movers.before, rough=rough)
        if change.max() < threshold:
            break
    values[movers.points] = current
    (cost, entropy), (first_cost, first_entropy) = subset.terms(current), subset.terms(first)
    return cost - first_cost, entropy - first_entropy, made


def _few_movers(update: DenseUpdate) -> float:
    """The share of pixels up to which movers are updated alone."""
    return min(FEW_MOVERS, MOVER_NUMBERS / (update.crf.n * update.layout.width))


def _halve(update: DenseUpdate, old: Float32s, new: Float32s, damped: NDArray[np.bool_]) -> None:
    """Take only half of the step of some modes, in place."""
    columns = np.flatnonzero(np.tile(damped, update.layout.stored))
    new[:, columns] = 0.5 * (new[:, columns] + old[:, columns])
