"""How a Gaussian kernel is normalised: the four ways that users of dense CRFs know."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from mixfield.errors import MixfieldError

Normalization = Literal["none", "before", "after", "symmetric"]

Float32s = NDArray[np.float32]


def check(value: str) -> None:
    """Complain about an unknown way."""
    if value not in get_args(Normalization):
        raise MixfieldError(f"normalization must be one of {', '.join(get_args(Normalization))}, got {value!r}")


def factors(sums: Float32s, normalization: Normalization) -> tuple[Float32s, Float32s]:
    """Factors before and after filtering, given the filtered ones ``sums`` (n,).

    ``symmetric`` makes the largest eigenvalue of the kernel one.
    """
    ones = np.ones_like(sums)
    inverse = (1.0 / np.maximum(sums, 1e-20)).astype(np.float32)
    if normalization == "symmetric":
        return np.sqrt(inverse), np.sqrt(inverse)
    if normalization == "before":
        return inverse, ones
    if normalization == "after":
        return ones, inverse
    return ones, ones
