"""Where a segmentation is doubtful, and how much of it: entropy or entropy gap of pixels, and the expected error."""

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


def expected_error(posterior: MixturePosterior) -> float:
    """Share of the pixels whose label is expected not to be that of mode 1: mean of 1 - P(label of mode 1)."""
    labels = posterior.modes[0].labeling()
    agreed = np.take_along_axis(posterior.marginals(), labels[..., None], -1)
    return float(np.clip(1.0 - agreed.mean(dtype=np.float64), 0.0, 1.0))


def expected_error_of_modes(weights: ArrayLike, differs: ArrayLike) -> float:
    """The same where only the label maps of modes are known: sum_k w_k |differs_k|, the share in which each differs.

    Calibrated weights are probabilities of being the best by mean IoU, for which it is only a rough number.
    """
    return float(np.dot(np.asarray(weights, np.float64), np.asarray(differs, np.float64)))


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
