"""Modes that live in a cell."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import count

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_serial_numbers = count()


@dataclass(frozen=True, eq=False)
class CellSolution:
    """Modes that live in their cell.

    Attributes
    ----------
    q : (K, n, L) marginals.
    log_z : (K,) bounds A_k, without multipliers.
    converged, iterations : (K,) how the final runs ended.
    multipliers : what holds them, by `Cardinality.identity`.
    serial : a number of its own; a child cell in which the mode of its parent lives has the parent's solution.
    """

    q: Floats
    log_z: Floats
    converged: NDArray[np.bool_]
    iterations: NDArray[np.int32]
    multipliers: Mapping[Hashable, float] = field(default_factory=dict)
    serial: int = field(default_factory=_serial_numbers.__next__)

    @cached_property
    def labels(self) -> NDArray[np.integer]:
        """(K, n) most probable labels, in few bytes."""
        return self.q.argmax(-1).astype(np.min_scalar_type(self.q.shape[-1]))

    def only(self, k: int) -> CellSolution:
        """One of the modes."""
        one = slice(k, k + 1)
        return CellSolution(self.q[one], self.log_z[one], self.converged[one], self.iterations[one], self.multipliers)
