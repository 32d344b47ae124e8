"""What the script of a segmentation page reads: the labels and probabilities of each pixel, one byte each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mixfield import _arrays
from mixfield._labels import label_name
from mixfield.errors import MixfieldError
from mixfield.mixture.posterior import MixturePosterior

Bytes = NDArray[np.uint8]
Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

MAX_LABELS = 256
MIN_PROBABILITY = 0.02  # labels that reach it in some pixel are listed by the pixel probe
NOT_LISTED = 255  # in a plane of labels


@dataclass(frozen=True, eq=False)
class PixelPosterior:
    """A posterior as pixels.

    Attributes
    ----------
    posterior : over any field.
    variables : (H, W) the variable of each pixel.
    names : of the labels that have one.
    """

    posterior: MixturePosterior
    variables: Ints
    names: Sequence[str] = ()

    @cached_property
    def labelings(self) -> Ints:
        """(K, H, W) labels of each mode."""
        return np.stack([mode.labeling().ravel()[self.variables] for mode in self.posterior.modes])

    @cached_property
    def differing(self) -> Floats:
        """(K, K) share of the pixels in which two modes differ."""
        return np.asarray((self.labelings[:, None] != self.labelings[None]).mean((2, 3)), np.float64)

    @cached_property
    def listed(self) -> Ints:
        """The labels of the modes, and those with a probability of at least `MIN_PROBABILITY` in some pixel."""
        peaks = [q.reshape(-1, self.n_labels).max(0) for q in self.probabilities]
        present = np.isin(np.arange(self.n_labels), self.labelings)
        return np.flatnonzero((np.max(peaks, axis=0) >= MIN_PROBABILITY) | present)

    @cached_property
    def probabilities(self) -> list[Floats]:
        """What the pixel probe shows: the marginals (*shape, L) of each mode, or of a calibrated mixture."""
        if self.posterior.calibration is not None:
            return [self.posterior.marginals()]
        return [mode.marginals for mode in self.posterior.modes]

    @property
    def n_labels(self) -> int:
        """Number of labels."""
        return self.posterior.modes[0].marginals.shape[-1]

    def name(self, label: int) -> str:
        """The name of a label."""
        return label_name(label, self.names)


def pixel_posterior(
    posterior: MixturePosterior, shape: tuple[int, int], pixels: ArrayLike | None, names: Sequence[str]
) -> PixelPosterior:
    """A posterior over the pixels of an image (H, W), or over superpixels: ``pixels`` (H, W) are then their indices."""
    n = int(np.prod(posterior.shape))
    if pixels is not None:
        variables = _arrays.integers("pixels", pixels, low=0, high=n)
        _arrays.check_shape("pixels", variables, shape, "= height and width of the image")
    elif posterior.shape != shape:
        raise MixfieldError(
            f"image must have the size of the posterior, {posterior.shape}, got {shape}; "
            "give the image that was segmented"
        )
    else:
        variables = np.arange(n).reshape(shape)
    found = PixelPosterior(posterior, variables, names)
    if found.n_labels > MAX_LABELS:
        raise MixfieldError(f"a page shows at most {MAX_LABELS} labels, got {found.n_labels}")
    return found


def planes(view: PixelPosterior, variables: Ints) -> list[Bytes]:
    """Label and probability planes of (h, w) pixels with these variables.

    For each mode the index of the label in ``view.listed``; then for each listed label and each of
    ``view.probabilities`` the probability in 255ths.  All modes but the first are stored as differences from it, which
    are mostly zero and compress well.
    """
    modes, listed = view.posterior.modes, view.listed
    labels = [indices_of(mode.labeling().ravel(), listed)[variables] for mode in modes]
    found = _relative_to_first(labels)
    for label in listed.tolist():
        levels = [np.rint(255 * q[..., label]).astype(np.uint8).ravel() for q in view.probabilities]
        found += _relative_to_first([level[variables] for level in levels])
    return found


def indices_of(labels: NDArray[np.integer], listed: Ints) -> Bytes:
    """The index of each label in ``listed``, `NOT_LISTED` for others and for negative labels."""
    table = np.full(MAX_LABELS + 1, NOT_LISTED, np.uint8)
    table[listed] = np.arange(len(listed))
    return table[np.where((labels >= 0) & (labels < MAX_LABELS), labels, MAX_LABELS)]


def _relative_to_first(levels: list[Bytes]) -> list[Bytes]:
    return [levels[0], *(level - levels[0] for level in levels[1:])]
