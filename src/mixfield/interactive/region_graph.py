"""Superpixels of an image with their appearance and common borders: what a field over regions is made from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter, gaussian_gradient_magnitude, maximum, minimum
from scipy.spatial import cKDTree

from mixfield.errors import MixfieldError

Floats = NDArray[np.float64]
Float32s = NDArray[np.float32]
Ints = NDArray[np.int64]

COUNT = 1000  # superpixels of an image
MIN_PIXELS = 4  # mean size of a superpixel of a small image
COMPACTNESS = 10.0  # of SLIC: weight of the distance in the image against that of colours
ITERATIONS = 5  # of SLIC
TEXTURE = 2.0  # weight of texture against colour in the distance of appearances
GRADIENT_SIGMAS, DEVIATION_SIGMA = (1.0, 2.0), 3.0  # of the texture, in pixels
NEIGHBOURS = 8  # regions of the most similar appearance


@dataclass(frozen=True, eq=False)
class RegionGraph:
    """Regions of an image or a volume, which of them touch, and which look alike.

    Attributes
    ----------
    regions : (H, W) or (D, H, W) the region of each pixel, from 0.
    sizes : (n,) pixels.
    appearance : (n, 6) mean colour in CIELAB and mean texture; Euclidean distances say how different regions look.
    edges : (m, 2) regions with a common border, the smaller number first.
    borders : (m,) length of the border in pixels.
    similar : (s, 2) each region and another of similar appearance, anywhere in the image.
    """

    regions: Ints
    sizes: Floats
    appearance: Floats
    edges: Ints
    borders: Floats
    similar: Ints

    @property
    def n(self) -> int:
        """Number of regions."""
        return len(self.sizes)

    @property
    def colours(self) -> Floats:
        """(n, 3) mean colours in CIELAB."""
        return self.appearance[:, :3]

    @property
    def relative_borders(self) -> Floats:
        """(m,) length of each border, divided by the mean."""
        return self.borders / self.borders.mean() if len(self.borders) else self.borders

    @property
    def contrasts(self) -> Floats:
        """(m,) distance of the mean colours across each border, divided by its mean."""
        return _relative(self.colours, self.edges)

    @property
    def dissimilarities(self) -> Floats:
        """(s,) distance of the appearances of ``similar`` regions, divided by its mean."""
        return _relative(self.appearance, self.similar)

    @property
    def image_border(self) -> tuple[Ints, Floats]:
        """Regions at the border of the image, and how many of its pixels each has."""
        axes = [np.moveaxis(self.regions, axis, 0) for axis in range(self.regions.ndim)]
        sides = [side.ravel() for along in axes for side in (along[0], along[-1])]
        at, lengths = np.unique(np.concatenate(sides), return_counts=True)
        return at, lengths.astype(np.float64)

    def means(self, values: NDArray[np.floating]) -> Floats:
        """(n, C) means over the regions of values (H, W, C)."""
        return region_means(self.regions, values, self.n)

    def majority(self, labels: NDArray[np.integer], of: Ints) -> Ints:
        """(n,) the most frequent of the labels ``of`` in each region of a label map (H, W), by its number in ``of``."""
        return np.asarray(self.means((labels[..., None] == of).astype(np.float64)).argmax(-1))

    def regions_in(self, place: NDArray[np.bool_]) -> Ints:
        """Numbers of the regions with pixels in a place (H, W)."""
        return np.unique(self.regions[place])


def region_graph(regions: Ints, features: Float32s) -> RegionGraph:
    """The graph of regions (H, W), numbered from 0 without gaps, and `pixel_features` (H, W, 6)."""
    sizes = np.bincount(regions.ravel()).astype(np.float64)
    appearance = region_means(regions, features, len(sizes))
    return RegionGraph(regions, sizes, appearance, *adjacent(regions), similar_pairs(appearance))


def pixel_features(picture: Float32s) -> Float32s:
    """(H, W, 6) CIELAB colours and weighted texture of intensities (H, W, C) from 0 to 255.

    The texture is the gradient magnitude of the lightness at two scales and its local standard deviation.
    """
    lab = np.asarray(_skimage("color").rgb2lab(_as_rgb(picture) / np.float32(255)), np.float32)
    light = lab[..., 0]
    variance = gaussian_filter(light**2, DEVIATION_SIGMA) - gaussian_filter(light, DEVIATION_SIGMA) ** 2
    texture = [gaussian_gradient_magnitude(light, sigma) for sigma in GRADIENT_SIGMAS]
    texture.append(np.sqrt(np.maximum(variance, 0.0)))
    return np.concatenate([lab, TEXTURE * np.stack(texture, -1)], -1)


def _skimage(module: str) -> Any:
    """A module of scikit-image."""
    try:
        return import_module(f"skimage.{module}")
    except ImportError:
        raise MixfieldError(
            "strokes are segmented by superpixels of scikit-image: pip install 'mixfield[demo]', "
            "or give kernels, then a dense CRF is used"
        ) from None


def _as_rgb(picture: Float32s) -> Float32s:
    return picture if picture.shape[-1] == 3 else np.repeat(picture.mean(-1, keepdims=True), 3, -1)


def slic_regions(picture: Float32s, count: int = COUNT, *, spacing: Sequence[float] | None = None) -> Ints:
    """(H, W) superpixels by SLIC of scikit-image, numbered from 0, of intensities (H, W, C) from 0 to 255.

    ``spacing`` is the size of a pixel along each axis.
    """
    slic = _skimage("segmentation").slic
    colours = np.rint(_as_rgb(picture)).astype(np.uint8)
    wanted = max(1, min(count, colours[..., 0].size // MIN_PIXELS))
    options = {"compactness": COMPACTNESS, "max_num_iter": ITERATIONS, "spacing": spacing}
    found = slic(colours, n_segments=wanted, start_label=0, **options)
    return np.asarray(np.unique(found, return_inverse=True)[1], np.int64).reshape(colours.shape[:-1])


def cut_by(regions: Ints, strokes: Ints) -> Ints:
    """Regions in which no two labels of strokes (H, W; negative where unknown) meet.

    A region that several labels cross is divided: each of its pixels joins the nearest of these strokes.
    """
    marked = np.flatnonzero(strokes.ravel() >= 0)
    pairs = np.unique(np.stack([regions.ravel()[marked], strokes.ravel()[marked]], 1), axis=0)
    crossed, counts = np.unique(pairs[:, 0], return_counts=True)
    divided, n = regions.copy(), int(regions.max()) + 1
    for region in crossed[counts > 1]:
        inside = np.argwhere(regions == region)
        labels = strokes[tuple(inside.T)]
        _, nearest = cKDTree(inside[labels >= 0]).query(inside)
        joined = labels[labels >= 0][nearest]
        for label in np.unique(joined)[1:]:
            divided[tuple(inside[joined == label].T)] = n
            n += 1
    return divided


def refined_at(regions: Ints, finer: Ints, labels: NDArray[np.integer]) -> Ints:
    """Regions (H, W), those of ``finer`` in place of each in which a label map (H, W) has several labels."""
    count = int(regions.max()) + 1
    numbers = np.arange(count)
    several = minimum(labels, regions, numbers) != maximum(labels, regions, numbers)
    found = np.where(several[regions], count + finer, regions)
    return np.asarray(np.unique(found, return_inverse=True)[1], np.int64).reshape(regions.shape)


def region_labels(regions: Ints, strokes: Ints, n: int) -> Ints:
    """(n,) label of the strokes (H, W) in each region, -1 where there are none; no two labels may meet in a region."""
    labels = np.full(n, -1, np.int64)
    marked = strokes >= 0
    labels[regions[marked]] = strokes[marked]
    return labels


def region_means(regions: Ints, values: NDArray[np.floating], n: int) -> Floats:
    """(n, C) means of values (H, W, C) over regions (H, W); zero for an empty region."""
    flat = regions.ravel()
    channels = values.reshape(flat.size, -1).T
    sums = np.stack([np.bincount(flat, channel, n) for channel in channels], axis=1)
    return np.asarray(sums / np.maximum(np.bincount(flat, minlength=n), 1)[:, None])


def adjacent(regions: Ints) -> tuple[Ints, Floats]:
    """(m, 2) adjacent regions, the smaller number first, and (m,) lengths of their common borders in pixels."""
    n = int(regions.max()) + 1
    codes = []
    for axis in range(regions.ndim):
        along = np.moveaxis(regions, axis, 0)
        one, other = along[:-1], along[1:]
        differ = one != other
        first, second = one[differ], other[differ]
        codes.append(np.minimum(first, second) * n + np.maximum(first, second))
    pairs, lengths = np.unique(np.concatenate(codes), return_counts=True)
    return np.stack([pairs // n, pairs % n], axis=1), lengths.astype(np.float64)


def similar_pairs(appearance: Floats) -> Ints:
    """(s, 2) each region and its `NEIGHBOURS` nearest in appearance (n, C)."""
    n = len(appearance)
    count = min(NEIGHBOURS, n - 1)
    if count == 0:
        return np.zeros((0, 2), np.int64)
    _, nearest = cKDTree(appearance).query(appearance, k=[*range(2, count + 2)])
    return np.stack([np.repeat(np.arange(n), count), np.asarray(nearest, np.int64).ravel()], axis=1)


def _relative(values: Floats, pairs: Ints) -> Floats:
    """(m,) distances between the values of pairs, divided by their mean."""
    distances = np.linalg.norm(values[pairs[:, 0]] - values[pairs[:, 1]], axis=1)
    mean = distances.mean() if len(distances) else 1.0
    return np.asarray(distances / mean if mean > 0 else distances)
