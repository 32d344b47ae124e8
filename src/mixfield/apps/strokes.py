"""Strokes: a label map in which most pixels are unknown, segmented by superpixels.

A dense CRF counts each pixel of a stroke as independent evidence and spreads the label of the longest stroke over the
whole image.  In a graph of superpixels a stroke is one observation for each region it crosses.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mixfield import _arrays
from mixfield.apps.evidence import UNKNOWN
from mixfield.apps.pictures import intensities
from mixfield.apps.superpixels import SegmentationField, superpixel_energy
from mixfield.errors import MixfieldError

CERTAINTY = 0.99  # of a stroke, which somebody drew on purpose
MOSTLY = 0.5  # share of unknown pixels above which a label map is strokes
SUPERPIXELS = 400
MIN_PIXELS = 4  # mean size of a superpixel of a small image
COMPACTNESS = 10.0  # of SLIC: weight of the distance in the image against that of colours


def is_strokes(scores: ArrayLike, unknown: Sequence[int] = UNKNOWN) -> bool:
    """Whether scores are a label map (H, W) of which more than `MOSTLY` of the pixels, but not all, are unknown."""
    array = _arrays.as_numpy("scores", scores)
    if array.ndim != 2 or array.dtype.kind not in "iu" or array.size == 0:
        return False
    share = float(np.isin(array, np.asarray(unknown)).mean())
    return MOSTLY < share < 1


def stroke_field(
    image: ArrayLike,
    strokes: ArrayLike,
    *,
    certainty: float | None = None,
    unknown: Sequence[int] = UNKNOWN,
    n_labels: int | None = None,
) -> SegmentationField:
    """The field that `mixfield.segment` solves for strokes; the parameters are those of `mixfield.segment`."""
    superpixels = slic_superpixels(image)
    energy = superpixel_energy(
        image,
        strokes,
        superpixels,
        certainty=CERTAINTY if certainty is None else certainty,
        unknown=unknown,
        n_labels=n_labels,
    )
    return SegmentationField(energy, superpixels)


def slic_superpixels(image: ArrayLike) -> NDArray[np.int64]:
    """(H, W) superpixels of an image, numbered from 0, by SLIC of scikit-image."""
    try:
        from skimage.segmentation import slic
    except ImportError:
        raise MixfieldError(
            "strokes are segmented by superpixels of scikit-image: pip install 'mixfield[demo]', "
            "or give kernels, then a dense CRF is used"
        ) from None
    picture = intensities(image)
    if picture.shape[-1] != 3:  # SLIC weighs colours of RGB images only as its compactness expects
        picture = np.repeat(picture.mean(-1, keepdims=True), 3, -1)
    count = max(1, min(SUPERPIXELS, picture.shape[0] * picture.shape[1] // MIN_PIXELS))
    found = slic(np.rint(picture).astype(np.uint8), n_segments=count, compactness=COMPACTNESS, start_label=0)
    return np.asarray(found, np.int64)
