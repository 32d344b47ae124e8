"""Weights and marginals of a mixture that are calibrated on annotated data.

The paper's weights ``m_k = exp(A_k) / sum exp(A_k)`` (eq. 11) trust the energy.  The energy of an image counts every
pixel as independent evidence, so that they are nearly one-hot.  Calibrated weights come from answers to questions
("are these pixels chair or sofa?"), and marginals are blended with the evidence of each pixel alone.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from mixfield.errors import MixfieldError

Floats = NDArray[np.float64]

SMALLEST = 1e-6  # probability at which logarithms end


@dataclass(frozen=True)
class Blend:
    """How the marginals of a mode are blended with the evidence of each variable alone.

    ``(1 - e) q^a p^c / Z + e f``: q are the marginals, p the evidence, and f the frequencies of the labels.

    Attributes
    ----------
    mode_exponent, evidence_exponent : a and c.
    outliers : e, the share of variables whose label is drawn by frequency, whatever the evidence says.
    """

    mode_exponent: float
    evidence_exponent: float
    outliers: float = 0.0

    def __post_init__(self) -> None:
        if not (0 <= self.outliers <= 1 and 0 <= self.mode_exponent < np.inf and 0 <= self.evidence_exponent < np.inf):
            raise MixfieldError(f"exponents must not be negative and outliers a share, got {self}")

    def of(self, marginals: NDArray[np.floating], evidence: NDArray[np.floating], frequencies: Floats) -> Floats:
        """(..., L) blended marginals, of marginals and evidence (..., L) and frequencies (L,)."""
        logs = self.mode_exponent * np.log(np.maximum(marginals, SMALLEST))
        logs += self.evidence_exponent * np.log(np.maximum(evidence, SMALLEST))
        logs -= logs.max(-1, keepdims=True)
        np.exp(logs, out=logs)
        logs *= (1.0 - self.outliers) / logs.sum(-1, keepdims=True)
        logs += self.outliers * frequencies
        return np.asarray(logs, np.float64)


@dataclass(frozen=True, eq=False)
class Calibration:
    """Calibrated weights of the modes, and how their marginals are blended with the evidence.

    Attributes
    ----------
    weights : (K,) weights of the modes.
    answers : (K,) probability that the labels of each mode are better than those of the root mode, where they differ;
        NaN for the root mode itself.
    evidence : (*shape, L) probabilities of each variable alone.
    blending : of marginals with the evidence.
    without_doubt : alternatives were looked for, and none is probable and different enough to be offered.
    """

    weights: Floats
    answers: Floats
    evidence: NDArray[np.floating]
    blending: Blend
    without_doubt: bool = False

    def blend(self, marginals: NDArray[np.floating]) -> Floats:
        """(*shape, L) marginals of a mode, blended with the evidence."""
        return self.blending.of(marginals, self.evidence, self._frequencies)

    @cached_property
    def _frequencies(self) -> Floats:
        return label_frequencies(self.evidence)

    def take(self, modes: NDArray[np.intp]) -> Calibration:
        """The calibration of some of the modes, in this order; their weights sum to one again."""
        weights = self.weights[modes]
        return replace(self, weights=weights / weights.sum(), answers=self.answers[modes])


def label_frequencies(evidence: NDArray[np.floating]) -> Floats:
    """(L,) mean probability of each label over all variables."""
    return np.asarray(evidence.reshape(-1, evidence.shape[-1]).mean(0, dtype=np.float64))
