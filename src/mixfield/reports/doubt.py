"""Where a segmentation is doubtful: entropy of calibrated marginals, or the entropy gap of a mean field."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mixfield.mixture.posterior import MixturePosterior
from mixfield.solvers.free_energy import entropies

Bits = NDArray[np.float64]

ENTROPY, GAP = "entropy", "entropy_gap"
TEXTS = {
    ENTROPY: "Uncertainty: the entropy of the calibrated probabilities of each pixel. Where it is bright, the label "
    "may be another one than shown.",
    GAP: "Entropy gap, or hidden doubt: how much more uncertain the label of a pixel is at a higher temperature than "
    "in mode 1. Where it is bright, mode 1 is certain only because pixels confirm one another.",
}
NAMES = {ENTROPY: "uncertainty", GAP: "entropy gap"}
TITLES = {ENTROPY: "uncertainty (entropy)", GAP: "entropy gap (hidden doubt)"}


@dataclass(frozen=True, eq=False)
class Doubt:
    """Bits of doubt of each pixel (H, W), and their ``kind``: `ENTROPY` or `GAP`."""

    bits: Bits
    kind: str

    @property
    def maximum(self) -> float:
        """The end of the scale: the largest value, at least one bit."""
        return float(max(1.0, self.bits.max()))


def doubt_of(posterior: MixturePosterior, gap: ArrayLike | None = None) -> Doubt | None:
    """The entropy of the marginals of a calibrated posterior over pixels, else the entropy gap if it is given."""
    if posterior.calibration is not None:
        return Doubt(entropies(posterior.marginals()) / np.log(2), ENTROPY)
    return None if gap is None else Doubt(np.asarray(gap, np.float64), GAP)
