"""The four normalisations of a Gaussian kernel that users of dense CRFs know (Krähenbühl and Koltun, 2013)."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from mixfield.errors import MixfieldError

Normalization = Literal["none", "before", "after", "symmetric"]

# The normalisation of the transposed kernel: "none" and "symmetric" are symmetric, the other two are not.
TRANSPOSED: dict[Normalization, Normalization] = {
    "none": "none",
    "before": "after",
    "after": "before",
    "symmetric": "symmetric",
}

Float32s = NDArray[np.float32]


def check(value: str) -> None:
    """Raise an error for an unknown normalisation."""
    if value not in get_args(Normalization):
        raise MixfieldError(f"normalization must be one of {', '.join(get_args(Normalization))}, got {value!r}")


def factors(sums: Float32s, normalization: Normalization) -> tuple[Float32s, Float32s]:
    """Factors (n,) before and after filtering, given the row sums (n,) of the kernel.

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
