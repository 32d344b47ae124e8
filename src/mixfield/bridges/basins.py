"""Many local minima of a binary graph, far from each other, and the probability of the basin of each.

States known already are heated and cooled again in a few sweeps, many at a time (basin hopping, Wales and Doye 1997,
with Gibbs sampling as the hop).  The temperature of the hop follows what comes back: lower when most minima have a high
energy, higher when most are known or near the state they began at.  The best parts of different minima are combined
(`mixfield.solvers.recombination`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mixfield import _simplex, _threads, kernels
from mixfield.energy.factor_graph import FactorGraph
from mixfield.mixture.deadline import Deadline
from mixfield.mixture.posterior import MixturePosterior
from mixfield.solvers.mode import Mode
from mixfield.solvers.recombination import best_parts

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
UInt64s = NDArray[np.uint64]

WORD = 64  # bits
NEAR = 0.05  # of the way from the lowest energy to the mean of all states, up to which minima are kept
FAR = 0.1  # of the variables, that a hop should change
REPLICAS = 64  # states that are heated at a time
COOLING = 8  # sweeps from the temperature of the hop to a tenth of it
COLDER, HOTTER, COLDEST = 0.8, 1.25, 1e-3  # factors of the temperature, and its lower end as a share of T_max
PARENTS = 2  # minima of a round whose parts are combined with the lowest of all
ROUNDING = 1e-12  # times the largest cost: differences of energy below it count as none
PATIENCE = 30  # rounds without a new minimum after which the search ends


@dataclass(frozen=True)
class BasinSearch:
    """Local minima of a binary graph.

    Attributes
    ----------
    graph : two labels, pairs, no forbidden states.
    t_max : temperature of the hottest hop.
    fewest : number of variables in which two minima differ at least.
    threads : of the sweeps.
    """

    graph: FactorGraph
    t_max: float
    fewest: int
    threads: int = 1

    def run(self, known: Ints, count: int, rng: np.random.Generator, deadline: Deadline) -> tuple[Ints, Floats]:
        """Up to ``count`` states (B, n) and their energies (B,).

        The first K belong to the states ``known`` (K, n), which differ in ``fewest`` variables: each of them, or a
        better minimum next to it.  The others are local minima of low energy.  No hop begins after the deadline.
        """
        packing = _Packing(known, self.graph.of(known), self.fewest)
        mean = float(self.graph.expected(np.full((self.graph.n, 2), 0.5)))
        temperature, fruitless = self.t_max / 2, 0
        while packing.size < count and fruitless < PATIENCE and not deadline.passed:
            low = packing.up_to(_highest(packing.lowest, mean))
            starts = packing.states(rng.choice(low, REPLICAS))
            cooling = np.geomspace(temperature, temperature / 10, COOLING)
            states, energies = self._minima(starts, cooling, rng)
            near = energies <= _highest(min(packing.lowest, float(energies.min())), mean)
            far = (states != starts).mean(1) >= FAR
            new = packing.add(states[near], energies[near])
            packing.add(*self._recombined(packing.best, states[np.argsort(energies)[:PARENTS]], rng))
            factor = COLDER if 2 * near.sum() < REPLICAS else HOTTER if 2 * min(new, far.sum()) < REPLICAS else 1.0
            temperature = min(max(factor * temperature, COLDEST * self.t_max), self.t_max)
            fruitless = 0 if new else fruitless + 1
        kept = packing.up_to(_highest(packing.lowest, mean))
        kept = np.concatenate([np.arange(len(known)), kept[kept >= len(known)]])[:count]
        return packing.states(kept), packing.energies[kept]

    def _recombined(self, best: Ints, others: Ints, rng: np.random.Generator) -> tuple[Ints, Floats]:
        """(1, n) and (1,) the lowest state with the better parts of others (R, n), as a local minimum."""
        for other in others:
            best = best_parts(self.graph, best, other)
        return self._minima(best[None], np.empty(0), rng)

    def _minima(self, states: Ints, temperatures: Floats, rng: np.random.Generator) -> tuple[Ints, Floats]:
        """Local minima (R, n) and their energies (R,), from states by one sweep per temperature and descent."""
        form, (base, rise) = self.graph.binary(0.0), self.graph.binary_unary
        bias, tolerance = rise + form.slope, ROUNDING * self.graph.cost_scale
        seeds = rng.integers(0, 2**63, len(states), dtype=np.uint64)
        x, energies = states[:, form.order].astype(np.float64), np.empty(len(states))
        _threads.split(
            lambda a, b: kernels.hops.hop(form.graph, bias, 1.0 / temperatures, tolerance, seeds, a, b, x, energies),
            len(states),
            self.threads,
            updates=float(x.size * (1 + len(temperatures))),
        )
        minima = np.empty_like(states)
        minima[:, form.order] = x
        return minima, energies + (base + form.constant + self.graph.constant)


def _highest(lowest: float, mean: float) -> float:
    """The energy up to which minima are kept."""
    return lowest + NEAR * max(mean - lowest, 0.0)


class _Packing:
    """States (B, n) with energies (B,), each two of which differ in at least ``fewest`` variables."""

    def __init__(self, states: Ints, energies: Floats, fewest: int) -> None:
        self.fewest, self.size, self._n = max(fewest, 1), len(states), states.shape[1]
        self._bits, self._energies = _packed(states), energies.copy()

    @property
    def energies(self) -> Floats:
        return self._energies[: self.size]

    @property
    def lowest(self) -> float:
        return float(self.energies.min())

    @property
    def best(self) -> Ints:
        """(n,) the state of lowest energy."""
        return self.states(np.array([self.energies.argmin()]))[0]

    def states(self, rows: Ints) -> Ints:
        """(R, n) some of the states."""
        bits = np.unpackbits(self._bits[rows].view(np.uint8), axis=1, count=self._n)
        return bits.astype(np.int64)

    def up_to(self, energy: float) -> Ints:
        """The rows of states of at most this energy."""
        return np.flatnonzero(self.energies <= energy)

    def add(self, states: Ints, energies: Floats) -> int:
        """Add the states (R, n) that are far from all others, the lowest first; returns how many there are.

        One that is near a single, higher state takes its place.
        """
        before, order = self.size, np.argsort(energies, kind="stable")
        for bits, energy in zip(_packed(states[order]), energies[order].tolist(), strict=True):
            count, near = kernels.hops.neighbours(self._bits[: self.size], bits, self.fewest)
            if count == 0:
                self._append(bits, energy)
            elif count == 1 and energy < self._energies[near]:
                self._bits[near], self._energies[near] = bits, energy
        return self.size - before

    def _append(self, bits: UInt64s, energy: float) -> None:
        if self.size == len(self._bits):
            self._bits = np.concatenate([self._bits, np.empty_like(self._bits)])
            self._energies = np.concatenate([self._energies, np.empty_like(self._energies)])
        self._bits[self.size], self._energies[self.size] = bits, energy
        self.size += 1


def _packed(states: Ints) -> UInt64s:
    """(R, w) the labels of binary states (R, n) as bits of 64-bit words, filled up with zeros."""
    padded = np.zeros((len(states), -(-states.shape[1] // WORD) * WORD), np.uint8)
    padded[:, : states.shape[1]] = states
    return np.packbits(padded, axis=1).view(np.uint64)


def basin_weights(posterior: MixturePosterior, states: Ints, energies: Floats) -> Floats:
    """(B,) the probability of the basin of each local minimum, at temperature 1; they sum to one.

    The probability of a mode is shared among the minima in its cells in proportion to exp(-E).

    Parameters
    ----------
    posterior : of a field over (n,).
    states : (B, n) minima, first those of the modes.
    energies : (B,) of the minima.
    """
    mode_of = np.zeros(len(states), np.int64)
    for k, mode in enumerate(posterior.modes):
        mode_of[_is_inside(mode, states)] = k
    mode_of[: len(posterior.modes)] = np.arange(len(posterior.modes))
    weights = np.empty(len(states))
    for k, weight in enumerate(posterior.weights):
        weights[mode_of == k] = weight * _simplex.softmax(-energies[mode_of == k])
    return weights


def _is_inside(mode: Mode, states: Ints) -> NDArray[np.bool_]:
    """(B,) whether states are in one of the cells of a mode."""
    inside = np.zeros(len(states), bool)
    for _, cell in mode.components():
        inside |= np.logical_and.reduce([np.ones(len(states), bool), *(c.holds(states) for c in cell.constraints)])
    return inside
