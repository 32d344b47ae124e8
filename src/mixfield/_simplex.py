"""Probabilities and their logarithms.

SciPy has these functions too, and takes a third of a second to load them: as long as a picture takes.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def softmax(scores: Floats) -> Floats:
    """Probabilities in proportion to the exponentials, over the last axis."""
    powers = np.exp(scores - scores.max(-1, keepdims=True))
    return np.asarray(powers / powers.sum(-1, keepdims=True))


def log_sum_exp(scores: Floats) -> Floats:
    """Logarithm of the sum of the exponentials, over the first axis."""
    return np.asarray(np.logaddexp.reduce(scores, axis=0))


def surprises(p: Floats) -> Floats:
    """-p log p of each number: what it adds to an entropy, in nats."""
    return -p * np.log(np.where(p > 0, p, 1.0))
