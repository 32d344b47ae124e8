"""The methods that are compared: from an image to a function from strokes to labelings, the answer first."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

import mixfield as mf
from experiments.interactive.photographs import BACKGROUND, OBJECT, UNKNOWN, Labels
from mixfield.apps import as_pixels, slic_superpixels, superpixel_energy
from mixfield.apps.canvas import Canvas
from mixfield.apps.region_field import RegionField, StrokeModel, region_field
from mixfield.apps.region_modes import pixel_labels, pixel_marginals, region_modes

Labelings = NDArray[np.int64]
Session = Callable[[Labels], Labelings]  # (H, W) strokes to (K, H, W) labelings
Method = Callable[[NDArray[Any]], Session]

N_MODES = 4
GRABCUT_ITERATIONS = 5
WALKER_BETA = 600.0
CERTAINTY = 0.99


def potts_superpixels(image: NDArray[Any]) -> Session:
    """Version 0.1: a contrast-sensitive Potts model on superpixels, strokes as their only evidence, four modes."""
    superpixels = slic_superpixels(image)

    def answer(strokes: Labels) -> Labelings:
        energy = superpixel_energy(image, strokes, superpixels, certainty=CERTAINTY, n_labels=2)
        return as_pixels(mf.infer(energy, N_MODES), superpixels).labelings()

    return answer


def potts_mean_field(image: NDArray[Any]) -> Session:
    """One mean field of the same field."""
    superpixels = slic_superpixels(image)

    def answer(strokes: Labels) -> Labelings:
        energy = superpixel_energy(image, strokes, superpixels, certainty=CERTAINTY, n_labels=2)
        return np.asarray(mf.mean_field(energy).labeling()[superpixels][None])

    return answer


def mixture(image: NDArray[Any]) -> Session:
    """Ours: four modes of the field over regions."""
    return _on_canvas(image, StrokeModel(), _modes)


def single_mean_field(image: NDArray[Any]) -> Session:
    """One mean field of the same field over regions."""
    return _on_canvas(image, StrokeModel(), _mean_field)


def _on_canvas(
    image: NDArray[Any], model: StrokeModel, solve: Callable[[Canvas, RegionField, Labels], Labelings]
) -> Session:
    canvas = Canvas.of(image)
    return lambda strokes: solve(canvas, region_field(canvas, strokes, 2, model=model), strokes)


def _modes(canvas: Canvas, field: RegionField, strokes: Labels) -> Labelings:
    found = region_modes(field, N_MODES)
    return np.stack([pixel_labels(canvas, found, k, strokes) for k in range(len(found.chosen))])


def _mean_field(canvas: Canvas, field: RegionField, strokes: Labels) -> Labelings:
    marginals = mf.mean_field(field.energy).marginals
    return np.asarray(pixel_marginals(canvas, field, marginals, strokes).argmax(-1)[None])


def grabcut(image: NDArray[Any]) -> Session:
    """OpenCV's GrabCut; unknown pixels are probably background."""
    import cv2

    colours = np.ascontiguousarray(image[..., ::-1])

    def answer(strokes: Labels) -> Labelings:
        mask = np.full(strokes.shape, cv2.GC_PR_BGD, np.uint8)
        mask[strokes == BACKGROUND], mask[strokes == OBJECT] = cv2.GC_BGD, cv2.GC_FGD
        cv2.setRNGSeed(0)
        first, second = np.zeros((1, 65)), np.zeros((1, 65))
        cv2.grabCut(colours, mask, (0, 0, 1, 1), first, second, GRABCUT_ITERATIONS, cv2.GC_INIT_WITH_MASK)
        return np.isin(mask, (cv2.GC_FGD, cv2.GC_PR_FGD)).astype(np.int64)[None]

    return answer


def random_walker(image: NDArray[Any]) -> Session:
    """scikit-image's random walker; without background strokes the border of the image is background."""
    from skimage.segmentation import random_walker as walk

    def answer(strokes: Labels) -> Labelings:
        seeds = np.where(strokes == UNKNOWN, 0, np.where(strokes == OBJECT, 1, 2))
        if not (seeds == 2).any():
            border = np.pad(np.zeros(np.array(seeds.shape) - 2, bool), 1, constant_values=True)
            seeds[border & (seeds == 0)] = 2
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # probabilities outside [0, 1] by a tolerance
            labels = walk(image, seeds, beta=WALKER_BETA, mode="cg_j", channel_axis=-1, tol=1e-3)
        return np.asarray(labels == 1, np.int64)[None]

    return answer


METHODS: dict[str, Method] = {
    "mixture": mixture,
    "mean field of the same field": single_mean_field,
    "Potts superpixels (0.1)": potts_superpixels,
    "its mean field (0.1)": potts_mean_field,
    "GrabCut": grabcut,
    "random walker": random_walker,
}
