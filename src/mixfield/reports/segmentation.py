"""The files of a segmentation: label maps, marginals, entropy gap, figure, posterior and a summary."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mixfield import _files
from mixfield.apps.superpixels import SegmentationField, as_pixels
from mixfield.io.images import write_grey, write_image, write_label_map
from mixfield.mixture.posterior import MixturePosterior
from mixfield.reports.segmentation_figure import displayed, segmentation_figure

Bits = NDArray[np.float64]

LEVELS_PER_BIT = 100  # grey levels of entropy_gap.png
SUPERPIXELS, STROKES, NAMES = "superpixels.npy", "scribbles.png", "labels.txt"
UNKNOWN = 255  # in scribbles.png


def segmentation_facts(posterior: MixturePosterior) -> dict[str, Any]:
    """Weights and bounds of the modes, and the share of pixels that differ from mode 1, as plain numbers."""
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


@dataclass(frozen=True, eq=False)
class Given:
    """What a segmentation was made from, for its page.

    Attributes
    ----------
    superpixels : (H, W) the variable of each pixel; None if pixels are variables.
    strokes : (H, W) labels that were given, negative where unknown; None without strokes.
    names : of the labels, from 0.
    """

    superpixels: NDArray[np.int64] | None = None
    strokes: NDArray[np.int64] | None = None
    names: Sequence[str] = ()

    @staticmethod
    def of(field: SegmentationField, scores: NDArray[Any], names: Sequence[str], *, unknown: Sequence[int]) -> Given:
        """What `mixfield.apps.segmentation_field` made a field from."""
        if field.superpixels is None or scores.shape != field.superpixels.shape:
            return Given(field.superpixels, None, names)
        strokes = np.where(np.isin(scores, np.asarray(unknown)), -1, scores.astype(np.int64))
        return Given(field.superpixels, strokes, names)


def write_segmentation(
    folder: Path, image: ArrayLike, posterior: MixturePosterior, gap: Bits, given: Given | None = None
) -> dict[str, Any]:
    """Write a segmentation to a folder and return the content of ``summary.json``.

    - ``image.png``: the image as it is displayed, for `mixfield report`
    - ``mode_1.png``, ...: labels of each mode, indexed PNG with PASCAL's colors, heaviest mode first
    - ``marginals.npz``: ``probs`` (H, W, L), marginals of the mixture in float16; `mixfield.io.read_scores` reads them
    - ``entropy_gap.png``: see `mixfield.apps.entropy_gap`, 100 grey levels per bit
    - ``figure.png``: image, modes, differences and entropy gap side by side
    - ``result.npz``: the posterior, read by `mixfield.load`
    - ``summary.json``: weights, bounds, and the share of pixels in which each mode differs from mode 1
    - ``superpixels.npy``, ``scribbles.png`` (255 where unknown), ``labels.txt``: what was given, if it was
    """
    given = given or Given()
    folder.mkdir(parents=True, exist_ok=True)
    over_pixels = posterior if given.superpixels is None else as_pixels(posterior, given.superpixels)
    _write_labels(folder, over_pixels)
    write_image(folder / "image.png", displayed(image))
    write_grey(folder / "entropy_gap.png", gap * LEVELS_PER_BIT / 255)
    with _files.draft(folder / "figure.png") as draft:
        segmentation_figure(image, over_pixels, gap, names=given.names).save(draft, format="PNG")
    posterior.save(folder / "result.npz", compact=True)
    _write_given(folder, given)
    summary = segmentation_facts(over_pixels)
    _files.write_text(folder / "summary.json", json.dumps(summary, indent=1) + "\n")
    return summary


def _write_labels(folder: Path, posterior: MixturePosterior) -> None:
    """Label maps and marginals; label maps of an earlier run, which may have had more modes, are removed."""
    for stale in folder.glob("mode_*.png"):
        stale.unlink()
    for k, labels in enumerate(posterior.labelings(), 1):
        write_label_map(folder / f"mode_{k}.png", labels)
    with _files.draft(folder / "marginals.npz") as draft, open(draft, "xb") as file:
        np.savez_compressed(file, probs=posterior.marginals().astype(np.float16))


def _write_given(folder: Path, given: Given) -> None:
    """Superpixels, strokes and names; superpixels of an earlier run are removed, they would not fit the posterior."""
    (folder / SUPERPIXELS).unlink(missing_ok=True)
    if given.superpixels is not None:
        with _files.draft(folder / SUPERPIXELS) as draft, open(draft, "xb") as file:
            np.save(file, np.asarray(given.superpixels, np.int32))
    if given.strokes is not None:
        write_label_map(folder / STROKES, np.where(given.strokes < 0, UNKNOWN, given.strokes))
    if given.names:
        _files.write_text(folder / NAMES, "\n".join(given.names) + "\n")
