"""The bound that a mean field maximises: A = H(Q) - E_Q[E], never above log Z (eq. 10 of the paper)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mixfield import _simplex
from mixfield.energy.base import Energy, expectations

Floats = NDArray[np.float64]


def entropies(q: Floats) -> Floats:
    """Entropy of each variable in nats, (..., L) to (...)."""
    return np.asarray(_simplex.surprises(q).sum(-1))


def bounds(energy: Energy, q: Floats, temperature: float = 1.0) -> Floats:
    """H - E/T of each mode of a batch (K, n, L), in float64; -inf where a mode touches a forbidden state."""
    return entropies(q).sum(1) - expectations(energy, q) / temperature
