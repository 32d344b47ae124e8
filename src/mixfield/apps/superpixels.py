"""Segment by superpixels: a small factor graph of regions in place of a dense CRF of pixels.

A dense CRF counts each pixel as independent evidence, so that its weights are nearly one-hot.  In a superpixel the
costs of pixels are averaged, which comes closer to one observation per region, and its weights are less extreme.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mixfield import _arrays
from mixfield._pictures import intensities
from mixfield.apps.evidence import CERTAINTY, UNKNOWN, probabilities
from mixfield.energy.factor_graph import FactorGraph
from mixfield.energy.unary import log_costs
from mixfield.interactive.region_graph import adjacent, region_means
from mixfield.mixture.posterior import MixturePosterior

Floats = NDArray[np.float64]
Float32s = NDArray[np.float32]
Ints = NDArray[np.int64]

UNIFORM = 1e-6  # relative range of the probabilities of a pixel below which they carry no information
FLOOR = 1e-8  # smallest probability, as in `DenseCRF.from_probabilities`


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
    """A contrast-sensitive Potts model over superpixels.

    Parameters
    ----------
    image, scores, certainty, unknown, n_labels : as for `mixfield.segment`.
    superpixels : (H, W) integers from 0, such as those of ``skimage.segmentation.slic``.
    coupling : cost of different labels across a border of mean length between superpixels of the same colour.
    contrast : standard deviation, in intensities from 0 to 255, of the Gaussian by which that cost falls with the
        distance of the mean colours.

    Returns
    -------
    FactorGraph
        One variable per superpixel; ``labels[superpixels]`` is the label map of a labeling.

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
    region = _arrays.integers("superpixels", superpixels, low=0, high=height * width)
    _arrays.check_shape("superpixels", region, (height, width), "= height and width of the image")
    n = int(region.max()) + 1
    probs = probabilities(scores, (height, width), certainty=certainty, unknown=unknown, n_labels=n_labels)
    edges, borders = adjacent(region)
    colours = region_means(region, picture, n)
    distance = np.linalg.norm(colours[edges[:, 0]] - colours[edges[:, 1]], axis=1)
    cost = _arrays.positive("coupling", coupling) * borders / borders.mean() if len(edges) else borders
    cost = cost * np.exp(-0.5 * (distance / _arrays.positive("contrast", contrast)) ** 2)
    potts = 1.0 - np.eye(probs.shape[-1])
    return FactorGraph.from_pairwise(_unary(region, probs, n), edges, cost[:, None, None] * potts)


def as_pixels(posterior: MixturePosterior, superpixels: ArrayLike) -> MixturePosterior:
    """The posterior over pixels (H, W) of a posterior over superpixels, without its tree of cuts."""
    region = _arrays.integers("superpixels", superpixels, low=0, high=int(np.prod(posterior.shape)))
    modes = tuple(
        replace(
            mode,
            marginals=_arrays.frozen(mode.marginals[region]),
            labels=_arrays.frozen(mode.labeling()[region]),
            constraints=(),
            conditionals=None,
        )
        for mode in posterior.modes
    )
    best = None if posterior.best is None else posterior.best[region]
    return replace(posterior, modes=modes, tree=(), best=best)


def _unary(region: Ints, probs: Float32s, n: int) -> Floats:
    """(n, L) mean cost of the informative pixels of each superpixel, zero where there are none."""
    flat = probs.reshape(-1, probs.shape[-1])
    informative = np.ptp(flat, axis=1) > UNIFORM * flat.max(1)
    costs = np.asarray(log_costs(flat, FLOOR), np.float64)
    return region_means(region.ravel()[informative], costs[informative], n)
