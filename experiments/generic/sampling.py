"""Annealed importance sampling (Neal 2001) by Gibbs sweeps."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp, softmax

from mixfield.energy import FactorGraph
from mixfield.energy.base import allowed_labels
from mixfield.solvers.factor_graph import gibbs_sweeps, soft_penalty

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

CHAINS = 32


def annealed_sampling(
    graph: FactorGraph, steps: int, *, chains: int = CHAINS, seed: int = 0
) -> tuple[float, list[Floats] | None]:
    """Estimate log Z with ``steps`` temperatures, then the marginals with half as many sweeps at T = 1.

    Forbidden states have a finite cost while the chains cool; chains that end in one have no weight.
    """
    rng = np.random.default_rng(seed)
    sampler = _GibbsSampler(graph, chains, rng)
    soft = graph.softened(soft_penalty(graph)) if graph.has_hard_factors else graph
    log_weight = np.full(chains, np.log(sampler.allowed.sum(1)).sum())
    x = sampler.first()
    for before, beta in pairwise((np.linspace(0.0, 1.0, steps + 1) ** 2).tolist()):
        log_weight -= (beta - before) * soft.of(x.reshape(chains, *graph.shape))
        x = sampler.sweep(x, beta)
    feasible = np.isfinite(graph.of(x.reshape(chains, *graph.shape)))
    if not feasible.any():
        return -np.inf, None
    log_weight = np.where(feasible, log_weight, -np.inf)
    marginals = np.tensordot(softmax(log_weight), sampler.frequencies(x, max(1, steps // 2)), 1)
    return float(logsumexp(log_weight) - np.log(chains)), list(marginals)


class _GibbsSampler:
    """Compiled Gibbs sweeps of several chains, on one thread."""

    def __init__(self, graph: FactorGraph, chains: int, rng: np.random.Generator) -> None:
        self._graph, self._chains, self._rng = graph, chains, rng
        self.allowed = allowed_labels(graph)
        self._bias = np.where(self.allowed, 0.0, np.inf)

    def first(self) -> Ints:
        """(chains, n) uniform labels."""
        scores = self._rng.random((self._chains, *self.allowed.shape))
        return np.where(self.allowed, scores, -1.0).argmax(-1)

    def sweep(self, x: Ints, beta: float) -> Ints:
        """(chains, n) labels after one sweep at inverse temperature ``beta``."""
        seeds = self._rng.integers(0, 2**63, self._chains, dtype=np.uint64)
        temperatures = np.array([1.0 / beta])
        drawn = gibbs_sweeps(self._graph, self._one_hot(x), self._bias, temperatures, seeds, threads=1)
        return drawn.argmax(-1)

    def frequencies(self, x: Ints, sweeps: int) -> Floats:
        """(chains, n, L) frequencies of the labels in some sweeps at T = 1."""
        total = np.zeros((self._chains, *self.allowed.shape))
        for _ in range(sweeps):
            x = self.sweep(x, 1.0)
            total += self._one_hot(x)
        return total / sweeps

    def _one_hot(self, x: Ints) -> Floats:
        return (x[..., None] == np.arange(self._graph.n_labels)).astype(np.float64)
