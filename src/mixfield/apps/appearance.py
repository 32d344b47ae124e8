"""Colours of the labels in other frames of a video: what a changed region looks like.

The histogram ``h_l`` of a label is the mean over frames of the normalised colour histograms of its pixels, so that
large and small labels, and frames in which a label is large or small, count the same.  A pixel of colour c looks like
``new`` rather than ``old`` with probability ``P(c) = (h_new + e) / (h_new + h_old + 2 e)``; colours never seen say
nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.ndimage import gaussian_filter

from mixfield._pictures import intensities

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Labels = NDArray[np.integer]

BINS = 32  # of each channel
BLUR = 0.7  # standard deviation of the smoothing of histograms, in bins
NOISE = 1.0  # standard deviation of the smoothing of images, in pixels
UNSEEN = 0.8  # e as a multiple of the uniform density
SMALL = 1e-3  # share of the image below which the pixels of a label count as less than a frame
LEAST_CONTRAST = 0.05  # between the mean P of two labels, below which likeness is not amplified further
MOST = 1.5  # largest likeness


def colour_bins(image: ArrayLike) -> Ints:
    """(n,) colour bin of each pixel of an image with one or three channels; further channels are left out."""
    picture = intensities(image)[..., :3]
    smooth = gaussian_filter(picture.astype(np.float32), (NOISE, NOISE, 0))
    codes = np.clip(smooth * (BINS / 256), 0, BINS - 1).astype(np.int64)
    return np.asarray(codes @ (BINS ** np.arange(codes.shape[-1])[::-1])).ravel()


def label_histograms(bins: Ints, labels: Labels, n_labels: int, channels: int) -> NDArray[np.float32]:
    """(L, B) smoothed histograms of the pixels (n,) of each label; sums are one, or less for fewer than `SMALL`."""
    histograms = np.zeros((n_labels, BINS**channels), np.float32)
    for label in np.unique(labels):
        of_label = bins[labels == label]
        counts = np.bincount(of_label, minlength=BINS**channels) / max(len(of_label), SMALL * len(bins))
        smooth = gaussian_filter(counts.reshape((BINS,) * channels), BLUR, mode="constant")
        histograms[label] = smooth.ravel()
    return histograms


def common_colours(one: Ints, other: Ints) -> float:
    """Intersection of the colour histograms of two images, given their bins: 0 for no colour in common, 1 for equal."""
    size = int(max(one.max(), other.max())) + 1
    shares = [np.bincount(bins, minlength=size) / len(bins) for bins in (one, other)]
    return float(np.minimum(*shares).sum())


@dataclass(frozen=True, eq=False)
class Change:
    """The pixels that a mode labels differently from the root mode, counted by labels and colour.

    Attributes
    ----------
    old, new, bins, counts : (m,) labels in the root mode and in the mode, colour bin, and number of pixels.
    """

    old: Ints
    new: Ints
    bins: Ints
    counts: Ints

    @staticmethod
    def of(bins: Ints, root: Labels, labels: Labels) -> Change:
        """The change from labels (n,) of the root mode to others."""
        changed = np.flatnonzero(root != labels)
        triples = np.stack([root[changed], labels[changed], bins[changed]]).astype(np.int64)
        (old, new, colours), counts = np.unique(triples, axis=1, return_counts=True)
        return Change(old, new, colours, counts)


@dataclass(frozen=True, eq=False)
class ColourModel:
    """Histograms (L, B) of the colours of each label, zero for labels that were not seen."""

    histograms: Floats

    @staticmethod
    def of(sums: NDArray[np.floating]) -> ColourModel:
        """From sums of `label_histograms` over frames."""
        totals = sums.sum(1, keepdims=True, dtype=np.float64)
        return ColourModel(np.where(totals > 0, sums / np.maximum(totals, 1e-12), 0.0))

    def likeness(self, change: Change) -> float:
        """How the changed pixels look: -1/2 as pixels of their old labels do on average, +1/2 as those of the new.

        ``(mean P - (m_new + m_old) / 2) / (m_new - m_old)``, where m_l is the mean of P over pixels with label l.
        """
        excess = contrast = 0.0
        known = 0
        seen = self.histograms.sum(1) > 0
        for old, new in _pairs(change):
            if not (seen[old] and seen[new]):
                continue
            rows = (change.old == old) & (change.new == new)
            counts = change.counts[rows]
            probability, of_new, of_old = self._compare(old, new)
            excess += float(counts @ (probability[change.bins[rows]] - (of_new + of_old) / 2))
            contrast += (of_new - of_old) * int(counts.sum())
            known += int(counts.sum())
        return float(np.clip(excess / max(contrast, LEAST_CONTRAST * known), -MOST, MOST)) if known else -0.5

    def _compare(self, old: int, new: int) -> tuple[Floats, float, float]:
        """P of each colour (B,), and its means over the pixels of the new and of the old label."""
        before, after = self.histograms[old], self.histograms[new]
        unseen = UNSEEN / len(before)
        probability = (after + unseen) / (after + before + 2 * unseen)
        return probability, float(after @ probability), float(before @ probability)


def _pairs(change: Change) -> Sequence[tuple[int, int]]:
    """The pairs of an old and a new label that occur."""
    return [(int(old), int(new)) for old, new in np.unique(np.stack([change.old, change.new], 1), axis=0)]
