"""Factor graphs: coloured coordinate ascent, of which every step lowers the free energy."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, partial
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from mixfield import _threads, kernels
from mixfield.elimination.junction_tree import exact
from mixfield.energy.factor_graph import FactorGraph
from mixfield.errors import MixfieldError
from mixfield.solvers import starts
from mixfield.solvers.base import MeanFieldSolver
from mixfield.solvers.coupling_norms import t_max_bound
from mixfield.solvers.expansion import alpha_expansion
from mixfield.solvers.minimum_cut import minimum_cut
from mixfield.solvers.options import Ascent
from mixfield.solvers.recombination import best_parts
from mixfield.solvers.sweepers import sweeper_of
from mixfield.solvers.temperature import largest_eigenvalue
from mixfield.solvers.tilt import Tilt

Floats = NDArray[np.float64]

CHEAP_VARIABLES, CHEAP_BYTES = 128, 1e6  # a field and its tables for which exact inference takes milliseconds
MANY_NUMBERS = 10_000  # marginals from which on T_max is bounded instead of computed, which takes sixty vectors
MANY_VARIABLES = 1 << 17  # from so many on, threads share the variables of a colour instead of the modes


class FactorGraphSolver(MeanFieldSolver):
    """Coordinate ascent over the colours of a `FactorGraph`; modes in parallel, or variables where there are many."""

    family = "factor_graph"
    recombines = True
    energy: FactorGraph

    def solve(
        self,
        q: Floats,
        tilt: Tilt,
        *,
        temperature: float | Floats = 1.0,
        tolerance: float | None = None,
        max_iterations: int | None = None,
    ) -> Ascent:
        """Sweep a batch of modes (K, n, L) to convergence.

        The free energy, potentials of the tilt included, falls with every update of a variable.
        """
        graph, threads = self.energy, self.options.threads
        tolerance = self.tolerance if tolerance is None else tolerance
        limit = self.max_iterations if max_iterations is None else max_iterations
        sweeper = sweeper_of(graph, q, tilt, hard_penalty(graph))
        beta = 1.0 / np.full(len(q), temperature, np.float64)
        sweeps, changes = np.zeros(len(q), np.int32), np.full(len(q), np.inf)
        if len(q) < threads and graph.n >= MANY_VARIABLES and not any(tilt.counts):
            for k in range(len(q)):
                while sweeps[k] < limit and changes[k] > tolerance:
                    changes[k] = _sweep_by_color(graph, partial(sweeper.update, k, float(beta[k])), threads)
                    sweeps[k] += 1
        else:
            _threads.split(
                lambda a, b: sweeper.ascend(beta, tolerance, limit, a, b, sweeps, changes),
                len(q),
                threads,
                updates=10.0 * len(q) * graph.n,  # a guess at the number of sweeps
            )
        ascent = Ascent(sweeper.marginals(), sweeps, changes, changes <= tolerance)
        return _without_forbidden(graph, ascent) if graph.has_hard_factors else ascent

    def bounds(self, q: Floats, temperature: float = 1.0) -> Floats:
        graph = self.energy
        if temperature == 1.0 and graph.has_binary_form and not graph.has_hard_factors:
            return _binary_bounds(graph, q)
        return super().bounds(q, temperature)

    def cooled_starts(self, count: int, bias: Floats, temperatures: Floats, rng: np.random.Generator) -> Floats:
        """(count, n, L) random labelings, cooled by Gibbs sampling, one sweep per temperature."""
        graph = self.energy
        if count == 0:
            return np.empty((0, *bias.shape))
        allowed = np.repeat(np.isfinite(bias)[None], count, 0)
        q = starts.one_hot(starts.labels(allowed, rng), graph.n_labels)
        seeds = rng.integers(0, 2**63, count, dtype=np.uint64)
        return gibbs_sweeps(graph, q, bias, temperatures, seeds, self.options.threads)

    @cached_property
    def good_states(self) -> Floats:
        """(S, n, L) the state of lowest energy of an attractive binary graph, or a good one of a metric graph."""
        found = [state for state in (minimum_cut(self.energy), alpha_expansion(self.energy)) if state is not None]
        return starts.one_hot(np.array(found, np.int64).reshape(len(found), self.energy.n), self.energy.n_labels)

    def recombined(self, states: Floats) -> Floats:
        """(1, n, L) the labels of the first of several states (K, n, L), with the better parts of the others."""
        best, *others = states.argmax(-1)
        for other in others:
            best = best_parts(self.energy, best, other)
        return starts.one_hot(best[None], self.energy.n_labels)

    def cheap_log_z(self) -> float | None:
        if self.energy.n > CHEAP_VARIABLES:
            return None
        try:
            return exact(self.energy, memory=CHEAP_BYTES).log_z
        except MixfieldError:  # too large, infeasible, or costs whose differences are lost in rounding
            return None

    def critical_temperature(self) -> float:
        """T_max of the graph with a finite price for forbidden states; of a large one an upper bound."""
        soft = self.energy.softened(soft_penalty(self.energy))
        if soft.unary.size > MANY_NUMBERS:
            return t_max_bound(soft, self.allowed)
        return max(0.0, largest_eigenvalue(soft, self.allowed) / 2)


def gibbs_sweeps(
    graph: FactorGraph, q: Floats, bias: Floats, temperatures: Floats, seeds: NDArray[np.uint64], threads: int
) -> Floats:
    """(K, n, L) one-hot labelings after one Gibbs sweep per temperature, from those of ``q`` (K, n, L).

    ``bias`` (n, L) is added to the costs; forbidden joint states have the price `soft_penalty`.
    """
    sweeper = sweeper_of(graph, q, Tilt.shared(bias, len(q)), soft_penalty(graph))
    _threads.split(
        lambda a, b: sweeper.draw(1.0 / temperatures, seeds, a, b),
        len(q),
        threads,
        updates=float(len(q) * graph.n * len(temperatures)),
    )
    return sweeper.marginals()


def hard_penalty(graph: FactorGraph) -> float:
    """A price of forbidden states that no finite cost can outweigh."""
    return 1e4 * max(1.0, graph.cost_scale) if graph.has_hard_factors else 0.0


def soft_penalty(graph: FactorGraph) -> float:
    """A price at which a sampler can still cross forbidden states."""
    return 10.0 + 2.0 * graph.cost_scale if graph.has_hard_factors else 0.0


def _without_forbidden(graph: FactorGraph, ascent: Ascent) -> Ascent:
    """Set small probabilities to zero until no forbidden state has any: the smallest threshold that achieves it."""
    q = ascent.q
    waiting = np.arange(len(q))
    for threshold in (1e-9, 1e-6, 1e-4, 1e-2, 1e-1):
        kept = np.where(ascent.q[waiting] < threshold, 0.0, ascent.q[waiting])
        q[waiting] = kept / kept.sum(-1, keepdims=True)
        waiting = waiting[graph.violation(q[waiting]) > 0]
        if len(waiting) == 0:
            break
    return Ascent(q, ascent.iterations, ascent.change, ascent.converged)


def _binary_bounds(graph: FactorGraph, q: Floats) -> Floats:
    """(K,) bounds of a binary graph in logit form."""
    form = graph.binary(0.0)
    base, rise = graph.binary_unary
    out = np.empty(len(q))
    kernels.binary.bounds(form.graph, rise + form.slope, np.ascontiguousarray(q[:, form.order, 1]), out)
    out -= base + form.constant + graph.constant
    if not graph.allowed.all():
        out[np.any((q > 0) & ~graph.allowed, axis=(1, 2))] = -np.inf
    return out


def _sweep_by_color(graph: FactorGraph, update: Callable[[int, int], float], threads: int) -> float:
    """One sweep of one mode, threads sharing each colour."""
    changes: list[float] = []
    for first, last in pairwise(graph.color_start.tolist()):

        def part(a: int, b: int, first: int = first) -> None:
            changes.append(update(first + a, first + b))

        _threads.split(part, last - first, threads, updates=float(last - first))
    return max(changes, default=0.0)
