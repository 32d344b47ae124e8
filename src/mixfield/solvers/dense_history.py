"""The marginals that the updates of a run have read, for the way back through them.

In single precision they are kept in 8 bits each, a quarter of their size; `kernels.eight_bits` says how.  The relative
error of a gradient is about 1e-3 (logits) and 1e-4 (weights), see `docs/gradients.md`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from mixfield import kernels

Float32s = NDArray[np.float32]
AnyFloats = NDArray[np.floating[Any]]


class Marginals(Protocol):
    """Channels (n, C) that are read in bands."""

    def band(self, first: int, last: int, memory: AnyFloats) -> AnyFloats:
        """Pixels ``first`` to ``last``, (last - first, C); ``memory`` of this shape may hold the answer."""


@dataclass(frozen=True, eq=False)
class WholeMarginals:
    """Channels (n, C) in the precision of the field."""

    values: AnyFloats

    def band(self, first: int, last: int, memory: AnyFloats) -> AnyFloats:  # noqa: ARG002
        return self.values[first:last]


@dataclass(frozen=True, eq=False)
class ByteMarginals:
    """Marginals of n pixels and L labels in 8 bits each."""

    codes: NDArray[np.uint8]

    @staticmethod
    def empty(n: int, n_labels: int) -> ByteMarginals:
        """To be written."""
        return ByteMarginals(np.empty((n, n_labels), np.uint8))

    def write(self, first: int, last: int, q: Float32s) -> None:
        """Set pixels ``first`` to ``last`` to channels (last - first, C)."""
        kernels.eight_bits.encode(q, self.codes[first:last])

    def band(self, first: int, last: int, memory: AnyFloats) -> AnyFloats:
        kernels.eight_bits.decode(self.codes[first:last], memory)
        return memory
