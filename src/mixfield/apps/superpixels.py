"""Segment by superpixels: a small graph of regions in place of a dense field of pixels.

Neighbouring pixels are not independent witnesses.  A field that counts each of them is sure of everything: its weights
are one and zeros.  Superpixels come closer to one vote per piece of evidence, and their weights say something.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mixfield import _arrays
from mixfield.apps.evidence import CERTAINTY, UNKNOWN, probabilities
from mixfield.apps.pictures import intensities
from mixfield.energy.factor_graph import FactorGraph
from mixfield.energy.unary import log_costs
from mixfield.mixture.posterior import MixturePosterior

Floats = NDArray[np.float64]


def superpixel_energy(
    image: ArrayLike,
    scores: ArrayLike,
    superpixels: ArrayLike,
    *,
    coupling: float = 1.0,
    contrast: float = 55.0,
    certainty: float = CERTAINTY,
    unknown: Sequence[int] = UNKNOWN,
    n_labels: int | None = None,
) -> FactorGraph:
    """A Potts model over superpixels that agree where they touch and look alike.

    Parameters
    ----------
    image, scores, certainty, unknown, n_labels : as for `mixfield.segment`.
    superpixels : (H, W) integers from 0, such as those of ``skimage.segmentation.slic``.
    coupling : cost of different labels along a border of mean length between superpixels of the same colour.
    contrast : distance of mean colours, in intensities from 0 to 255, at which that cost has fallen to 61 %.

    Returns
    -------
    FactorGraph
        One variable per superpixel; ``labels[superpixels]`` is the picture of a labeling.

    Examples
    --------
    >>> import numpy as np, mixfield as mf
    >>> from mixfield.apps import superpixel_energy
    >>> image = np.repeat([[20] * 6 + [200] * 6], 4, 0).astype(np.uint8)
    >>> superpixels = np.repeat([np.arange(12) // 3], 4, 0)
    >>> scribbles = np.full((4, 12), -1)
    >>> scribbles[1, 0], scribbles[1, 11] = 0, 1
    >>> post = mf.infer(superpixel_energy(image, scribbles, superpixels), n_modes=1)
    >>> post.labelings()[0].tolist()
    [0, 0, 1, 1]
    """
    picture = intensities(image)
    height, width = picture.shape[:2]
    where = _arrays.integers("superpixels", superpixels, low=0, high=height * width)
    _arrays.check_shape("superpixels", where, (height, width), "= height and width of the image")
    n = int(where.max()) + 1
    probs = probabilities(scores, (height, width), certainty=certainty, unknown=unknown, n_labels=n_labels)
    edges, borders = _touching(where)
    colours = _means(where, picture.reshape(-1, picture.shape[-1]).astype(np.float64), n)
    apart = np.linalg.norm(colours[edges[:, 0]] - colours[edges[:, 1]], axis=1)
    price = _arrays.positive("coupling", coupling) * borders / borders.mean() if len(edges) else borders
    price = price * np.exp(-0.5 * (apart / _arrays.positive("contrast", contrast)) ** 2)
    differ = 1.0 - np.eye(probs.shape[-1])
    return FactorGraph.from_pairwise(_evidence(where, probs, n), edges, price[:, None, None] * differ)


def as_pixels(posterior: MixturePosterior, superpixels: ArrayLike) -> MixturePosterior:
    """The posterior over pixels (H, W) that a posterior over superpixels stands for, without its tree of cuts."""
    where = _arrays.integers("superpixels", superpixels, low=0, high=int(np.prod(posterior.shape)))
    modes = tuple(
        replace(mode, marginals=_arrays.frozen(mode.marginals[where]), constraints=()) for mode in posterior.modes
    )
    return replace(posterior, modes=modes, tree=())


def _evidence(where: NDArray[np.int64], probs: NDArray[np.float32], n: int) -> Floats:
    """(n, L) mean cost of the pixels that say something; superpixels in which none does cost nothing."""
    flat = probs.reshape(-1, probs.shape[-1])
    telling = np.ptp(flat, axis=1) > 1e-6 * flat.max(1)
    costs = np.asarray(log_costs(flat, 1e-8), np.float64)
    return _means(where.ravel()[telling], costs[telling], n)


def _means(where: NDArray[np.int64], values: Floats, n: int) -> Floats:
    """(n, channels) mean of the values (pixels, channels) of each superpixel, zero where there are none."""
    flat = where.ravel()
    sums = np.stack([np.bincount(flat, channel, n) for channel in values.T], axis=1)
    return np.asarray(sums / np.maximum(np.bincount(flat, minlength=n), 1)[:, None])


def _touching(where: NDArray[np.int64]) -> tuple[NDArray[np.int64], Floats]:
    """(m, 2) superpixels that touch, and (m,) lengths of their common borders in pixels."""
    beside = np.stack([where[:, :-1].ravel(), where[:, 1:].ravel()], axis=1)
    below = np.stack([where[:-1].ravel(), where[1:].ravel()], axis=1)
    pairs = np.concatenate([beside, below])
    pairs = np.sort(pairs[pairs[:, 0] != pairs[:, 1]], axis=1)
    edges, lengths = np.unique(pairs, axis=0, return_counts=True)
    return edges.reshape(-1, 2), lengths.astype(np.float64)
