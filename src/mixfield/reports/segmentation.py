"""What a segmentation leaves behind: label maps, marginals, the entropy gap, one figure, the posterior."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mixfield import _files
from mixfield.apps.pictures import intensities
from mixfield.apps.superpixels import as_pixels
from mixfield.io.images import palette, write_grey, write_label_map
from mixfield.mixture.posterior import MixturePosterior
from mixfield.reports.panels import Colours, Key, Panel, compose
from mixfield.reports.png import rgb_png

Bits = NDArray[np.float64]

LEVELS_PER_BIT = 100  # grey levels of entropy_gap.png
HUES = np.array(
    [(230, 97, 1), (0, 114, 178), (0, 158, 115), (204, 121, 167), (240, 200, 30), (86, 180, 233), (150, 80, 30)],
    np.uint8,
)
RAMP = np.array([(12, 8, 38), (87, 16, 110), (188, 55, 84), (249, 142, 9), (252, 255, 164)], np.float64)


def facts(posterior: MixturePosterior) -> dict[str, Any]:
    """Weights and bounds of the modes, and how much of the image each changes, as plain numbers."""
    labelings = posterior.labelings()
    return {
        "shape": list(posterior.shape),
        "log_z": posterior.log_z,
        "weights": posterior.weights.tolist(),
        "modes": [
            {
                "log_z": mode.log_z,
                "mass_inside": mode.mass_inside,
                "converged": mode.converged,
                "differs": float((labels != labelings[0]).mean()),
                "labels": np.unique(labels).tolist(),
            }
            for mode, labels in zip(posterior.modes, labelings, strict=True)
        ],
        "notes": list(posterior.notes),
    }


def write_segmentation(
    folder: Path, image: ArrayLike, posterior: MixturePosterior, gap: Bits, *, superpixels: ArrayLike | None = None
) -> dict[str, Any]:
    """Write everything into a folder and return what ``summary.json`` says.

    - ``image.png``: the image as it is displayed, for `mixfield report`
    - ``mode_1.png``, ...: labels of each mode, indexed PNG with PASCAL's colours, heaviest mode first
    - ``marginals.npz``: ``probs`` (H, W, L), marginals of the mixture in float16; can be read as scores again
    - ``entropy_gap.png``: see `mixfield.entropy_gap`, 100 grey levels per bit
    - ``figure.png``: image, modes, where they differ and the entropy gap side by side
    - ``result.npz``: the posterior, read by `mixfield.load`
    - ``summary.json``: weights, bounds, and how much of the image each mode changes
    - ``superpixels.npy``: (H, W), where the posterior is about ``superpixels``
    """
    folder.mkdir(parents=True, exist_ok=True)
    for stale in folder.glob("mode_*.png"):
        stale.unlink()
    over_pixels = posterior if superpixels is None else as_pixels(posterior, superpixels)
    for k, labels in enumerate(over_pixels.labelings(), 1):
        write_label_map(folder / f"mode_{k}.png", labels)
    with _files.draft(folder / "marginals.npz") as draft, open(draft, "xb") as file:
        np.savez_compressed(file, probs=over_pixels.marginals().astype(np.float16))
    _files.write_bytes(folder / "image.png", rgb_png(displayed(image)))
    write_grey(folder / "entropy_gap.png", gap * LEVELS_PER_BIT / 255)
    with _files.draft(folder / "figure.png") as draft:
        figure(image, over_pixels, gap).save(draft, format="PNG")
    posterior.save(folder / "result.npz")
    if superpixels is not None:
        with _files.draft(folder / "superpixels.npy") as draft, open(draft, "xb") as file:
            np.save(file, np.asarray(superpixels, np.int32))
    summary = facts(over_pixels)
    _files.write_text(folder / "summary.json", json.dumps(summary, indent=1) + "\n")
    return summary


def side_by_side(image: ArrayLike, *labelings: NDArray[np.int64]) -> Colours:
    """Labelings over the image, next to each other, (H, W * count, 3)."""
    photo = displayed(image)
    return np.concatenate([_overlay(photo, labels) for labels in labelings], axis=1)


def figure(image: ArrayLike, posterior: MixturePosterior, gap: Bits) -> Any:
    """The image, its modes with their weights, where they differ and the entropy gap, as a Pillow image."""
    photo = displayed(image)
    labelings = posterior.labelings()
    height, width = posterior.shape
    panels = [Panel("image", f"{width} x {height} pixels", photo)]
    for k, labels in enumerate(labelings):
        mark = tuple(HUES[(k - 1) % len(HUES)].tolist()) if k else None
        panels.append(Panel(*_caption(posterior, labelings, k), _overlay(photo, labels), mark))
    if len(labelings) > 1:
        share = 100 * (labelings != labelings[0]).any(0).mean()
        panels.append(Panel("where they differ", f"from mode 1: {share:.1f} % of pixels", _changes(photo, labelings)))
    top = max(1.0, float(gap.max()))
    panels.append(Panel("hidden doubt", f"entropy gap, dark 0 to bright {top:.1f} bits", _ramp(gap / top)))
    present = np.unique(labelings)
    keys = [Key(tuple(palette()[label].tolist()), f"label {label}") for label in present]
    return compose(panels, columns=min(4, len(panels)), keys=keys)


def _caption(posterior: MixturePosterior, labelings: NDArray[np.int64], k: int) -> tuple[str, str]:
    """Title and note of a mode."""
    weight = posterior.weights[k]
    shown = f"{100 * weight:.1f} %" if weight >= 5e-4 or weight == 0 else "< 0.1 %"
    if k == 0:
        return f"mode 1: {shown}", f"log Z = {posterior.modes[0].log_z:.1f}"
    behind = posterior.modes[0].log_z - posterior.modes[k].log_z
    share = 100 * (labelings[k] != labelings[0]).mean()
    return f"mode {k + 1}: {shown}", f"{behind:.1f} nats behind, {share:.1f} % of pixels differ"


def displayed(image: ArrayLike) -> Colours:
    """(H, W, 3) for the eye; of other than three channels the mean is shown."""
    array = intensities(image)
    if array.shape[-1] != 3:
        array = np.repeat(array.mean(-1, keepdims=True), 3, -1)
    return np.rint(array).astype(np.uint8)


def _overlay(photo: Colours, labels: NDArray[np.int64]) -> Colours:
    """The photo in the colours of the labels, with white lines between them; label 0 is shown as it is, darker."""
    colours = palette()[np.minimum(labels, 255)].astype(np.float64)
    strength = np.where(labels > 0, 0.6, 0.45)[..., None]
    mixed = (1 - strength) * photo + strength * colours
    mixed[_borders(labels)] = 255
    return np.rint(mixed).astype(np.uint8)


def _borders(labels: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Pixels whose right or lower neighbour has another label."""
    edge = np.zeros(labels.shape, bool)
    edge[:, :-1] |= labels[:, :-1] != labels[:, 1:]
    edge[:-1] |= labels[:-1] != labels[1:]
    return edge


def _changes(photo: Colours, labelings: NDArray[np.int64]) -> Colours:
    """The photo, pale, with what each mode changes in the colour of its mark."""
    grey = photo.mean(-1, keepdims=True)
    pale = np.repeat(160 + 0.35 * grey, 3, -1)
    changed = labelings[1:] != labelings[0]
    hues = HUES[np.arange(len(changed)) % len(HUES)].astype(np.float64)
    count = changed.sum(0)[..., None]
    mean = np.tensordot(changed, hues, (0, 0)) / np.maximum(count, 1)
    return np.rint(np.where(count > 0, 0.8 * mean + 0.2 * grey, pale)).astype(np.uint8)


def _ramp(values: Bits) -> Colours:
    """Colours from dark to bright for numbers from 0 to 1."""
    places = np.linspace(0, 1, len(RAMP))
    return np.stack([np.interp(values, places, channel) for channel in RAMP.T], -1).astype(np.uint8)
