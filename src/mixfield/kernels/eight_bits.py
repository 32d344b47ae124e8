"""Probabilities in 8 bits each: ``round(255 sqrt(q))``, read as its square, divided by the sum over labels.

The square root gives small probabilities a fine scale, and the sum corrects large ones by what the others tell.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mixfield.kernels.jit import Float32s, jit

Bytes = NDArray[np.uint8]

LARGEST = 255


@jit(fastmath=True)
def encode(q: Float32s, out: Bytes) -> None:
    """Write the first columns of ``q`` (b, C) to ``out`` (b, L)."""
    scale, half, one = np.float32(LARGEST), np.float32(0.5), np.float32(1)
    for p in range(len(out)):
        for l in range(out.shape[1]):
            out[p, l] = np.uint8(np.int32(scale * np.sqrt(min(q[p, l], one)) + half))


@jit(fastmath=True)
def decode(codes: Bytes, out: Float32s) -> None:
    """Write probabilities (b, L) to the first columns of ``out`` (b, C), and zeros to the others."""
    n_labels = codes.shape[1]
    for p in range(len(codes)):
        total = np.float32(0)
        for l in range(n_labels):
            root = np.float32(np.int32(codes[p, l]))
            out[p, l] = root * root
            total += out[p, l]
        scale = np.float32(1) / total
        for l in range(n_labels):
            out[p, l] *= scale
        for l in range(n_labels, out.shape[1]):
            out[p, l] = np.float32(0)
