"""How far a click reaches, pixel by pixel: further candidates where there are the scores of a network.

A click on a segmentation that was shown corrects one connected set of wrong pixels, of which it lies in the middle, and
all of which were shown with one other label.  A logistic model says how probable each pixel belongs to it; sets of
different sizes are its level sets around the click.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import distance_transform_edt, gaussian_filter, label

from mixfield.interactive.canvas import Canvas
from mixfield.interactive.corrections import EIGHT, Correction
from mixfield.interactive.region_candidates import LastAction
from mixfield.interactive.region_field import RegionField
from mixfield.interactive.stroke_evidence import reach

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Float32s = NDArray[np.float32]
Labels = NDArray[np.integer]

NARROWEST, WIDEST = 40, 160  # pixels from the click to the border of the window
WINDOW = 6.0  # the same, in depths of the click
NEAR = 2  # pixels around the click that say how it looks
LEAST = 1e-3  # probability at which logarithms end
LARGEST_EVIDENCE = 8.0  # nats
SMOOTH = 1.0  # pixels
LEVELS = (-1.5, -0.5, 0.5, 1.5)  # nats that a pixel needs
# of the features and of a constant, in nats (python -m experiments interactive --fit)
WEIGHTS = (
    -2.03,
    -0.05,
    -1.37,
    -0.44,
    -0.05,
    0.18,
    -0.25,
    0.36,
    0.16,
    0.17,
    0.08,
    -0.62,
    -0.04,
    0.17,
    -0.75,
    -0.94,
    1.26,
)


class Window(NamedTuple):
    """The pixels around a click that may change with it.

    Attributes
    ----------
    rows, columns : of the window in the picture.
    inside : (h, w) pixels of the shown segment of the click.
    place : row and column of the click in the window.
    """

    rows: slice
    columns: slice
    inside: Bools
    place: tuple[int, int]


def local_changes(
    canvas: Canvas, field: RegionField, scores: Float32s, corrections: Sequence[Correction]
) -> tuple[Bools, ...]:
    """(h, w) sets of pixels that may change with the last correction, from the largest to the smallest.

    Parameters
    ----------
    canvas : of the image, (h, w) pixels.
    field : over its regions, with scores; the label of the last correction is active.
    scores : (h, w, L) probabilities of a network.
    corrections : clicks, one or more.
    """
    window, features = local_features(canvas, field, scores, corrections)
    values = gaussian_filter(features @ np.array(WEIGHTS[:-1]) + WEIGHTS[-1], SMOOTH)
    found = []
    for level in LEVELS:
        mask = np.zeros(corrections[-1].shown.shape, bool)
        mask[window.rows, window.columns] = _around(window.inside & (values > level), window.place)
        found.append(mask)
    return tuple(found)


def local_features(
    canvas: Canvas, field: RegionField, scores: Float32s, corrections: Sequence[Correction]
) -> tuple[Window, Floats]:
    """The window of the last correction, and (h, w, 16) features of its pixels."""
    last = corrections[-1]
    window, depths, depth = click_window(last)
    part = np.s_[window.rows, window.columns]
    regions, (row, column) = field.graph.regions[part], window.place
    near = np.s_[max(row - NEAR, 0) : row + NEAR + 1, max(column - NEAR, 0) : column + NEAR + 1]
    rows, columns = np.ogrid[: regions.shape[0], : regions.shape[1]]
    distance = np.hypot(rows - row, columns - column)
    colours = canvas.features[part][..., :3]
    colour = np.linalg.norm(colours - colours[near].reshape(-1, 3).mean(0), axis=-1)
    probs = np.clip(scores[part][..., last.label], LEAST, 1 - LEAST)
    odds = np.log(probs / (1 - probs))
    evidence = _evidence(field, last.label)[regions]
    walk = np.log(reach(field.graph, field.seeds, regions[row : row + 1, column]) + LEAST)[regions]
    mean = _mean_colours(field, regions, (row, column))
    one, size = np.ones(regions.shape), np.hypot(*last.shown.shape)
    values = [
        np.log1p(distance / depth),
        np.log1p(distance / depth) ** 2,
        10 * distance / size,
        np.log1p(colour),
        np.log1p(mean),
        odds,
        one * odds[near].mean(),
        evidence,
        one * evidence[row, column],
        walk,
        walk**2 / 10,
        np.log((depths + 0.5) / depth),
        one * np.log(depth / depths.max()),
        one * np.log(window.inside.mean()),
        one * np.log(depth / size),
        one * np.log(len(corrections)),
    ]
    return window, np.stack(values, -1)


def corrected(last: LastAction, labels: Labels) -> Labels:
    """(h, w) what was shown, with the last action and the changes in ``labels`` that are connected with it."""
    parts, count = label(((labels != last.shown) & (labels == last.label)) | last.place, EIGHT)
    touched = np.zeros(count + 1, bool)
    touched[parts[last.place]] = True
    return relabelled(last, touched[parts])


def relabelled(last: LastAction, pixels: Bools) -> Labels:
    """(h, w) what was shown, with the label of the last action in some pixels."""
    return np.where(pixels, np.asarray(last.label, last.shown.dtype), last.shown)


def click_window(last: Correction) -> tuple[Window, Floats, float]:
    """The window of a click, distances (h, w) of its pixels from the border of the shown segment, and of the click."""
    other = np.pad(last.shown != last.label, 1)[
        max(last.row - WIDEST, 0) : last.row + WIDEST + 3, max(last.column - WIDEST, 0) : last.column + WIDEST + 3
    ]
    depths = distance_transform_edt(other)
    row, column = last.row + 1 - max(last.row - WIDEST, 0), last.column + 1 - max(last.column - WIDEST, 0)
    depth = max(float(depths[row, column]), 1.0)
    half = int(np.clip(WINDOW * depth, NARROWEST, WIDEST))
    top, left = max(last.row - half, 0), max(last.column - half, 0)
    bottom, right = (
        min(at + half + 1, size) for at, size in zip((last.row, last.column), last.shown.shape, strict=True)
    )
    rows, columns, place = slice(top, bottom), slice(left, right), (last.row - top, last.column - left)
    inside = _around(last.shown[rows, columns] != last.label, place)
    shift = row - last.row, column - last.column
    depths = depths[top + shift[0] : bottom + shift[0], left + shift[1] : right + shift[1]]
    return Window(rows, columns, inside, place), depths, depth


def _around(inside: Bools, place: tuple[int, int]) -> Bools:
    """The connected set of pixels ``inside`` with that of a click."""
    inside = inside.copy()
    inside[place] = True
    parts, _ = label(inside, EIGHT)
    return np.asarray(parts == parts[place])


def _evidence(field: RegionField, wanted: int) -> Floats:
    """(n,) nats of the field for a label against the best other one."""
    new = int(np.searchsorted(field.active, wanted))
    others = np.delete(field.costs, new, axis=1).min(1)
    return np.clip(others - field.costs[:, new], -LARGEST_EVIDENCE, LARGEST_EVIDENCE)


def _mean_colours(field: RegionField, regions: NDArray[np.int64], place: tuple[int, int]) -> Floats:
    """(h, w) how far the mean colours of regions differ from that of the click."""
    colours = field.graph.colours
    return np.asarray(np.linalg.norm(colours - colours[regions[place]], axis=1)[regions])
