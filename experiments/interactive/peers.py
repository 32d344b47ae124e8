"""Other tools with the same strokes: from an image to a function from strokes to labelings (1, H, W)."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter

from experiments.interactive.photographs import BACKGROUND, OBJECT, UNKNOWN, Labels

Labelings = NDArray[np.int64]
Session = Callable[[Labels], Labelings]  # (H, W) strokes to (K, H, W) labelings
Floats = NDArray[np.float64]

GRABCUT_ITERATIONS = 5
WALKER_BETA = 600.0
BINS, BLUR = 16, 1.0  # of each colour channel, and the smoothing of histograms in bins
CONTRAST_COST = (
    20.0  # of the graph cut, in nats for neighbours of equal colour: the best of 5, 20 and 50 on the ten photographs
)
STEPS = ((0, 1), (1, 0), (1, 1), (1, -1))  # rows and columns to half of the eight neighbours


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
        marked = with_background(strokes)
        seeds = np.where(marked == UNKNOWN, 0, np.where(marked == OBJECT, 1, 2))
        labels = walk(image, seeds, beta=WALKER_BETA, mode="bf", channel_axis=-1)
        return np.asarray(labels == 1, np.int64)[None]

    return answer


def graph_cut(image: NDArray[Any]) -> Session:
    """The minimum cut of Boykov and Jolly (ICCV 2001) by PyMaxflow: colour histograms, eight neighbours."""
    maxflow = import_module("maxflow")

    contrasts = neighbour_costs(image)

    def answer(strokes: Labels) -> Labelings:
        marked = with_background(strokes)
        costs = histogram_costs(image, marked)
        graph = maxflow.GraphFloat(image.shape[0] * image.shape[1], 4 * image.shape[0] * image.shape[1])
        nodes = graph.add_grid_nodes(image.shape[:2])
        for (down, right), weights in zip(STEPS, contrasts, strict=True):
            structure = np.zeros((3, 3))
            structure[1 + down, 1 + right] = 1
            graph.add_grid_edges(nodes, weights=weights, structure=structure, symmetric=True)
        hard = 1e6
        source = np.select([marked == OBJECT, marked == BACKGROUND], [hard, 0.0], costs[0])
        sink = np.select([marked == OBJECT, marked == BACKGROUND], [0.0, hard], costs[1])
        graph.add_grid_tedges(nodes, source, sink)
        graph.maxflow()
        return np.asarray(~graph.get_grid_segments(nodes), np.int64)[None]  # True is the side of the sink

    return answer


def with_background(strokes: Labels) -> Labels:
    """The strokes; without background strokes, the border of the image is one."""
    if (strokes == BACKGROUND).any():
        return strokes
    border = np.pad(np.zeros(np.array(strokes.shape) - 2, bool), 1, constant_values=True)
    return np.where(border & (strokes == UNKNOWN), BACKGROUND, strokes)


def neighbour_costs(image: NDArray[Any]) -> list[Floats]:
    """(H, W) costs of a border between each pixel and its neighbour, for each of `STEPS`."""
    colours = image.astype(np.float64)
    squares = [((colours - np.roll(colours, (-down, -right), (0, 1))) ** 2).sum(-1) for down, right in STEPS]
    scale = 2 * float(np.mean(squares))
    return [
        CONTRAST_COST * np.exp(-square / max(scale, 1e-9)) / np.hypot(*step)
        for step, square in zip(STEPS, squares, strict=True)
    ]


def histogram_costs(image: NDArray[Any], strokes: Labels) -> Floats:
    """(2, H, W) negative log-likelihoods of the colours under the smoothed histograms of background and object."""
    codes = (image.astype(np.int64) * BINS // 256) @ (BINS ** np.arange(3))
    costs = []
    for label in (BACKGROUND, OBJECT):
        counts = np.bincount(codes[strokes == label], minlength=BINS**3).reshape(BINS, BINS, BINS)
        density = gaussian_filter(counts / max(counts.sum(), 1), BLUR, mode="constant").ravel()
        costs.append(-np.log(density + 1e-2 / BINS**3))
    return np.stack(costs)[:, codes]
