"""Where a segmentation is doubtful: entropy of the marginals, or the entropy gap of a mean field."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mixfield.mixture.posterior import MixturePosterior
from mixfield.solvers.free_energy import entropies

Bits = NDArray[np.float64]
Ints = NDArray[np.int64]

ENTROPY, GAP = "entropy", "entropy_gap"
TEXTS = {
    ENTROPY: "Uncertainty: the entropy of the probabilities of each pixel in the mixture. Where it is bright, the "
    "label may be another one than shown.",
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


def doubt_of(posterior: MixturePosterior, gap: ArrayLike | None = None, variables: Ints | None = None) -> Doubt:
    """The entropy gap if it is given and the posterior is not calibrated, else the entropy of the marginals.

    Parameters
    ----------
    posterior : over the pixels (H, W), or over superpixels.
    gap : (H, W) entropy gap in bits.
    variables : (H, W) the variable of each pixel, where the posterior is over superpixels.
    """
    if gap is not None and posterior.calibration is None:
        return Doubt(np.asarray(gap, np.float64), GAP)
    bits = entropies(posterior.marginals()) / np.log(2)
    return Doubt(bits if variables is None else bits.ravel()[variables], ENTROPY)
