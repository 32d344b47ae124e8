"""Label maps over an image, and the figure of a segmentation: image, modes, differences and doubt."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mixfield._labels import label_name
from mixfield._pictures import intensities
from mixfield.apps.questions import questions
from mixfield.mixture.posterior import MixturePosterior
from mixfield.reports.about import is_without_doubt, weight_text
from mixfield.reports.doubt import TITLES, Doubt
from mixfield.reports.palette import CHANGED, MODES, Color, label_colors, ramp
from mixfield.reports.panels import Image, Key, Panel, compose

Labels = NDArray[np.int64]

OPACITY, BACKGROUND_OPACITY = 0.6, 0.45  # of the color of a label, and of label 0
CHANGE_OPACITY = 0.8  # of the color of a mode where it differs
COLUMNS = 4


def displayed(image: ArrayLike) -> Image:
    """(H, W, 3) colors of an image; other than three channels are shown by their mean."""
    array = intensities(image)
    if array.shape[-1] != 3:
        array = np.repeat(array.mean(-1, keepdims=True), 3, -1)
    return np.rint(array).astype(np.uint8)


def side_by_side(image: ArrayLike, *labelings: Labels) -> Image:
    """(H, W * count, 3) label maps over the image, from left to right."""
    photo = displayed(image)
    return np.concatenate([label_overlay(photo, labels) for labels in labelings], axis=1)


def segmentation_figure(
    image: ArrayLike, posterior: MixturePosterior, doubt: Doubt | None, *, names: Sequence[str] = ()
) -> Any:
    """The image, its modes with their weights and questions, their differences and doubt, as a Pillow image.

    Labels have the colors of pages, and their ``names`` in the legend.
    """
    photo = displayed(image)
    labelings = posterior.labelings()
    height, width = posterior.shape
    panels = [Panel("image", f"{width} x {height} pixels", photo)]
    captions = {question.mode: question.caption(names) for question in questions(posterior)}
    panels += [_mode_panel(photo, posterior, labelings, k, captions.get(k, "")) for k in range(len(labelings))]
    if len(labelings) > 1:
        share = 100 * (labelings != labelings[0]).any(0).mean()
        panels.append(Panel("differences", f"from mode 1: {share:.1f} % of pixels", _differences(photo, labelings)))
    if doubt is not None:
        scale = f"dark 0 to bright {doubt.maximum:.1f} bits"
        panels.append(Panel(TITLES[doubt.kind], scale, ramp(doubt.bits / doubt.maximum)))
    colors = label_colors()
    keys = [Key(_color(colors[label]), label_name(label, names)) for label in np.unique(labelings).tolist()]
    return compose(panels, columns=min(COLUMNS, len(panels)), keys=keys)


def _mode_panel(photo: Image, posterior: MixturePosterior, labelings: Labels, k: int, caption: str) -> Panel:
    """A mode with its question, or with the share of pixels in which it differs."""
    title = f"mode {k + 1}: {weight_text(posterior, k)}"
    picture = label_overlay(photo, labelings[k])
    if k == 0:
        calibrated = "no doubt" if is_without_doubt(posterior) else "mean field"
        return Panel(title, "largest weight" if posterior.calibration is None else calibrated, picture)
    share = f"{100 * (labelings[k] != labelings[0]).mean():.1f} % of pixels differ"
    return Panel(title, caption or share, picture, _mode_color(k))


def _mode_color(k: int) -> Color:
    """The color of a mode after the first."""
    return MODES[(k - 1) % len(MODES)]


def label_overlay(photo: Image, labels: Labels) -> Image:
    """The photo in the colors of the labels, with white borders between them."""
    colors = label_colors()[np.minimum(labels, 255)].astype(np.float64)
    opacity = np.where(labels > 0, OPACITY, BACKGROUND_OPACITY)[..., None]
    mixed = (1 - opacity) * photo + opacity * colors
    mixed[_borders(labels)] = 255
    return np.rint(mixed).astype(np.uint8)


def changed_overlay(photo: Image, changed: NDArray[np.bool_]) -> Image:
    """The photo in grey, with the pixels that changed in color."""
    grey = photo.mean(-1, keepdims=True)
    mixed = CHANGE_OPACITY * np.array(CHANGED, np.float64) + (1 - CHANGE_OPACITY) * grey
    return np.rint(np.where(changed[..., None], mixed, _light(grey))).astype(np.uint8)


def _light(grey: NDArray[np.float64]) -> NDArray[np.float64]:
    """(H, W, 3) light grey."""
    return np.repeat(160 + 0.35 * grey, 3, -1)


def _color(row: NDArray[np.uint8]) -> Color:
    red, green, blue = row.tolist()
    return red, green, blue


def _borders(labels: Labels) -> NDArray[np.bool_]:
    """Pixels whose right or lower neighbour has another label."""
    edge = np.zeros(labels.shape, bool)
    edge[:, :-1] |= labels[:, :-1] != labels[:, 1:]
    edge[:-1] |= labels[:-1] != labels[1:]
    return edge


def _differences(photo: Image, labelings: Labels) -> Image:
    """The photo in light grey, with the pixels that differ from mode 1 in the colors of the modes."""
    grey = photo.mean(-1, keepdims=True)
    differs = labelings[1:] != labelings[0]
    colors = np.array([_mode_color(k) for k in range(1, len(labelings))], np.float64)
    count = differs.sum(0)[..., None]
    mean = np.tensordot(differs, colors, (0, 0)) / np.maximum(count, 1)
    mixed = CHANGE_OPACITY * mean + (1 - CHANGE_OPACITY) * grey
    return np.rint(np.where(count > 0, mixed, _light(grey))).astype(np.uint8)
