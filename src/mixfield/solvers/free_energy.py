"""The bound that a mean field maximises: A = H(Q) - E_Q[E], never above log Z (eq. 10 of the paper)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mixfield import _simplex, kernels
from mixfield.energy.base import Energy, expectations
from mixfield.energy.factor_graph import FactorGraph

Floats = NDArray[np.float64]


def entropies(q: Floats) -> Floats:
    """Entropy of each variable in nats, (..., L) to (...)."""
    return np.asarray(_simplex.surprises(q).sum(-1))


def bounds(energy: Energy, q: Floats, temperature: float = 1.0) -> Floats:
    """H - E/T of each mode of a batch (K, n, L), in float64; -inf where a mode touches a forbidden state."""
    if (
        temperature == 1.0
        and isinstance(energy, FactorGraph)
        and energy.is_binary_pairwise
        and not energy.has_hard_factors
    ):
        return _binary_bounds(energy, q)
    return entropies(q).sum(1) - expectations(energy, q) / temperature


def _binary_bounds(graph: FactorGraph, q: Floats) -> Floats:
    """The same in logit form."""
    form = graph.binary(0.0)
    base, rise = graph.binary_unary
    out = np.empty(len(q))
    kernels.binary.bounds(form.graph, rise + form.slope, np.ascontiguousarray(q[:, form.order, 1]), out)
    out -= base + form.constant + graph.constant
    if not graph.allowed.all():
        out[np.any((q > 0) & ~graph.allowed, axis=(1, 2))] = -np.inf
    return out
