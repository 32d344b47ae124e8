"""A photograph with scribbles that do not determine the labels of two regions, the helmet and the table behind it.

The strokes were chosen by trial: with others the four modes differ in smaller regions.  The photograph is NASA's
portrait of Eileen Collins (public domain), which the package of scikit-image contains.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from mixfield.apps.strokes import slic_superpixels
from mixfield.errors import MixfieldError

REDUCTION = 2  # of the photograph, 512 x 512 pixels
BACKGROUND, ASTRONAUT = 0, 1
NAMES = ("background", "astronaut")
STROKE_RADIUS = 1  # pixels

# strokes by label, as corners (x, y) in the reduced photograph
STROKES: tuple[tuple[int, tuple[tuple[int, int], ...]], ...] = (
    (BACKGROUND, ((8, 20), (30, 90), (12, 130))),
    (BACKGROUND, ((52, 60), (66, 90), (66, 15), (165, 6))),
    (BACKGROUND, ((209, 12), (209, 60), (190, 100))),
    (BACKGROUND, ((240, 30), (245, 100))),
    (ASTRONAUT, ((92, 45), (100, 22), (128, 20), (142, 40))),
    (ASTRONAUT, ((108, 50), (106, 85), (122, 74), (126, 60))),
    (ASTRONAUT, ((80, 107), (118, 135), (145, 107))),
    (ASTRONAUT, ((250, 226), (247, 213))),
    (ASTRONAUT, ((100, 160), (115, 220), (130, 180), (165, 165))),
)


@dataclass(frozen=True, eq=False)
class ScribbledPhoto:
    """A photograph with scribbles and superpixels.

    Attributes
    ----------
    image : (H, W, 3) uint8.
    scribbles : (H, W) labels, -1 where there is no scribble.
    superpixels : (H, W) index of the superpixel of each pixel, from 0.
    names : of the labels.
    """

    image: NDArray[np.uint8] = field(repr=False)
    scribbles: NDArray[np.int64] = field(repr=False)
    superpixels: NDArray[np.int64] = field(repr=False)
    names: tuple[str, ...] = NAMES


def scribbled_photo() -> ScribbledPhoto:
    """The photograph of an astronaut with scribbles, from the package of scikit-image; nothing is downloaded."""
    try:
        from skimage.data import astronaut
    except ImportError:
        raise MixfieldError(
            "the photograph comes with scikit-image: pip install 'mixfield[demo]' (or try mixfield demo --graph)"
        ) from None
    full = astronaut()  # type: ignore[no-untyped-call, unused-ignore]
    side = full.shape[0] // REDUCTION
    image = full.reshape(side, REDUCTION, side, REDUCTION, 3).mean((1, 3)).round().astype(np.uint8)
    return ScribbledPhoto(image, _draw_strokes(image.shape[:2]), slic_superpixels(image))


def _draw_strokes(shape: tuple[int, int]) -> NDArray[np.int64]:
    """(H, W) labels of the strokes, -1 elsewhere."""
    labels, r = np.full(shape, -1, np.int64), STROKE_RADIUS
    for label, corners in STROKES:
        for (x0, y0), (x1, y1) in pairwise(corners):
            steps = 2 * max(abs(x1 - x0), abs(y1 - y0)) + 1
            for x, y in zip(np.linspace(x0, x1, steps), np.linspace(y0, y1, steps), strict=True):
                row, column = round(y), round(x)
                labels[max(0, row - r) : row + r + 1, max(0, column - r) : column + r + 1] = label
    return labels
