"""Features of the pixels around a click: where they lie, how they look, what scores, clicks and history say of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter, gaussian_gradient_magnitude

from mixfield.interactive.canvas import Canvas
from mixfield.interactive.click_history import history_features
from mixfield.interactive.click_rays import along_rays
from mixfield.interactive.click_window import Window, click_window
from mixfield.interactive.corrections import Correction
from mixfield.interactive.region_field import RegionField
from mixfield.interactive.stroke_evidence import reach

Floats = NDArray[np.float64]
Float32s = NDArray[np.float32]

NEAR = 2  # pixels around the click that say how it looks
LEAST = 1e-3  # probability at which logarithms end
LARGEST_EVIDENCE = 8.0  # nats
COLOURS, LIGHT, OPPONENT = 12, 100.0, 60.0  # bins of each colour, ranges of the CIELAB coordinates
ELSEWHERE = 60.0  # pixels from the click beyond which colours of the other labels are counted
LARGEST_RATIO = 4.0  # nats


def click_features(
    canvas: Canvas, field: RegionField, scores: Float32s, corrections: Sequence[Correction]
) -> tuple[Window, Floats]:
    """The window of the last correction, and (h, w, 30) features of its pixels.

    Parameters
    ----------
    canvas : of the image, (h, w) pixels.
    field : over its regions, with scores; the label of the last correction is active.
    scores : (h, w, L) probabilities of a network.
    corrections : clicks, one or more.
    """
    last = corrections[-1]
    window, depths, depth = click_window(last)
    near = _near(window)
    probs = np.clip(scores[window.part][..., last.label], LEAST, 1 - LEAST)
    odds = np.log(probs / (1 - probs))
    ones = np.ones(odds.shape)
    values = [
        *_places(window, depths, depth, np.hypot(*last.shown.shape)),
        odds,
        odds[near].mean() * ones,
        np.abs(odds - odds[near].mean()),
        *_regions(field, last.label, window),
        *_looks(canvas, window, last),
        np.log(len(corrections)) * ones,
        *history_features(window, corrections),
    ]
    return window, np.stack(values, -1)


def _near(window: Window) -> tuple[slice, slice]:
    """The pixels at the click."""
    row, column = window.place
    return slice(max(row - NEAR, 0), row + NEAR + 1), slice(max(column - NEAR, 0), column + NEAR + 1)


def _places(window: Window, depths: Floats, depth: float, size: float) -> list[Floats]:
    """Distances from the click and from the border of the shown segment, and the scale of both."""
    ones = np.ones(depths.shape)
    distance = np.log1p(window.distances / depth)
    return [
        distance,
        distance**2,
        10 * window.distances / size,
        np.log((depths + 0.5) / depth),
        np.log(depth / depths.max()) * ones,
        np.log(window.inside.mean()) * ones,
        np.log(depth / size) * ones,
    ]


def _regions(field: RegionField, wanted: int, window: Window) -> list[Floats]:
    """What the field says of the regions of pixels, and how well walks between regions reach the click."""
    regions = field.graph.regions[window.part]
    at = regions[window.place]
    evidence = _evidence(field, wanted)[regions]
    walk = np.log(reach(field.graph, field.seeds, np.array([at])) + LEAST)[regions]
    colours = field.graph.colours
    differ = np.linalg.norm(colours - colours[at], axis=1)[regions]
    return [evidence, evidence[window.place] * np.ones(regions.shape), walk, walk**2 / 10, np.log1p(differ)]


def _evidence(field: RegionField, wanted: int) -> Floats:
    """(n,) nats of the field for a label against the best other one."""
    new = int(np.searchsorted(field.active, wanted))
    others = np.delete(field.costs, new, axis=1).min(1)
    return np.clip(others - field.costs[:, new], -LARGEST_EVIDENCE, LARGEST_EVIDENCE)


def _looks(canvas: Canvas, window: Window, last: Correction) -> list[Floats]:
    """Colours against those of the click and of the labels, and contrasts, those on the way to the click too."""
    near, colours = _near(window), canvas.features[window.part][..., :3]
    differ = np.linalg.norm(colours - colours[near].reshape(-1, 3).mean(0), axis=-1)
    squares = sum(gaussian_gradient_magnitude(colours[..., k], 1.0) ** 2 for k in range(3))
    contrast = np.log1p(np.sqrt(squares))
    largest, total = along_rays(contrast, window.place)
    ratio = _colour_ratio(canvas, last)[window.part]
    return [np.log1p(differ), contrast, largest, np.log1p(total / 10), ratio, ratio[near].mean() * np.ones(ratio.shape)]


def _colour_ratio(canvas: Canvas, last: Correction) -> Floats:
    """(h, w) log ratio of the colours where the label was shown to those of other labels far from the click."""
    lowest, ranges = np.array([0, -OPPONENT, -OPPONENT]), np.array([LIGHT, 2 * OPPONENT, 2 * OPPONENT])
    bins = np.clip((canvas.features[..., :3] - lowest) / ranges * COLOURS, 0, COLOURS - 1e-3).astype(int)
    number = np.ravel_multi_index(tuple(np.moveaxis(bins, -1, 0)), (COLOURS,) * 3)
    rows, columns = np.ogrid[: number.shape[0], : number.shape[1]]
    far = np.hypot(rows - last.row, columns - last.column) > ELSEWHERE
    shown = last.shown == last.label
    ratio = _log_frequencies(number[shown]) - _log_frequencies(number[~shown & far])
    return np.clip(ratio, -LARGEST_RATIO, LARGEST_RATIO)[number]


def _log_frequencies(colours: NDArray[np.int64]) -> Floats:
    """(bins,) smoothed logarithms of frequencies."""
    counts = np.bincount(colours, minlength=COLOURS**3).astype(float).reshape((COLOURS,) * 3)
    smooth = gaussian_filter(counts, 0.7).ravel() + 1e-5 * counts.sum() + 1e-3
    return np.asarray(np.log(smooth / smooth.sum()))
