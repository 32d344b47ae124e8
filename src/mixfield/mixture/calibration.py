"""Weights and marginals of a mixture that are calibrated on annotated data.

The paper's weights ``m_k = exp(A_k) / sum exp(A_k)`` (eq. 11) trust the energy.  The energy of an image counts every
pixel as independent evidence, so that they are nearly one-hot.  Calibrated weights come from answers to questions
("are these pixels chair or sofa?"), and marginals are blended with the evidence of each pixel alone.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

SMALLEST = 1e-6  # probability at which logarithms end


@dataclass(frozen=True, eq=False)
class Calibration:
    """Calibrated weights of the modes, and how their marginals are blended with the evidence.

    Attributes
    ----------
    weights : (K,) weights of the modes.
    answers : (K,) probability that the labels of each mode are better than those of the root mode, where they differ;
        NaN for the root mode itself.
    evidence : (*shape, L) probabilities of each variable alone.
    mode_exponent, evidence_exponent : a and c of ``q_k^a evidence^c``, which is normalised.
    """

    weights: Floats
    answers: Floats
    evidence: NDArray[np.floating]
    mode_exponent: float
    evidence_exponent: float

    def blend(self, marginals: NDArray[np.floating]) -> Floats:
        """(*shape, L) normalised ``marginals^a evidence^c``."""
        logs = self.mode_exponent * np.log(np.maximum(marginals, SMALLEST))
        logs += self.evidence_exponent * np.log(np.maximum(self.evidence, SMALLEST))
        logs -= logs.max(-1, keepdims=True)
        np.exp(logs, out=logs)
        logs /= logs.sum(-1, keepdims=True)
        return np.asarray(logs, np.float64)

    def take(self, modes: NDArray[np.intp]) -> Calibration:
        """The calibration of some of the modes, in this order; their weights sum to one again."""
        weights = self.weights[modes]
        return replace(self, weights=weights / weights.sum(), answers=self.answers[modes])
