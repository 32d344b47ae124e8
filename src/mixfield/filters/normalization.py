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
    if normalization == "none":
        return np.ones_like(sums), np.ones_like(sums)
    inverse = np.maximum(sums, np.float32(1e-20))
    np.divide(np.float32(1.0), inverse, out=inverse)
    if normalization == "symmetric":
        root = np.sqrt(inverse, out=inverse)
        return root, root
    ones = np.ones_like(sums)
    return (inverse, ones) if normalization == "before" else (ones, inverse)
