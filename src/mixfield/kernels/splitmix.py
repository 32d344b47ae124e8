"""The random generator splitmix64 (Steele, Lea and Flood, 2014), whose state is one integer."""

from __future__ import annotations

import numpy as np

from mixfield.kernels.jit import jit


@jit(inline="always")
def advance(state: np.uint64) -> np.uint64:
    """The next state."""
    return state + np.uint64(0x9E3779B97F4A7C15)


@jit(inline="always")
def uniform(state: np.uint64) -> float:
    """The number in [0, 1) of a state, from the 53 high bits of its hash."""
    z = state
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    return float(z >> np.uint64(11)) * (1.0 / 9007199254740992.0)
