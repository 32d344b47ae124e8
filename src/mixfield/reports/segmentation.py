"""The files of a segmentation: label maps, marginals, entropy gap, figure, posterior and a summary."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mixfield import _files
from mixfield.apps.superpixels import as_pixels
from mixfield.io.images import write_grey, write_image, write_label_map
from mixfield.mixture.posterior import MixturePosterior
from mixfield.reports.segmentation_figure import displayed, segmentation_figure

Bits = NDArray[np.float64]

LEVELS_PER_BIT = 100  # grey levels of entropy_gap.png


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


def write_segmentation(
    folder: Path, image: ArrayLike, posterior: MixturePosterior, gap: Bits, *, superpixels: ArrayLike | None = None
) -> dict[str, Any]:
    """Write a segmentation to a folder and return the content of ``summary.json``.

    - ``image.png``: the image as it is displayed, for `mixfield report`
    - ``mode_1.png``, ...: labels of each mode, indexed PNG with PASCAL's colors, heaviest mode first
    - ``marginals.npz``: ``probs`` (H, W, L), marginals of the mixture in float16; `mixfield.io.read_scores` reads them
    - ``entropy_gap.png``: see `mixfield.apps.entropy_gap`, 100 grey levels per bit
    - ``figure.png``: image, modes, differences and entropy gap side by side
    - ``result.npz``: the posterior, read by `mixfield.load`
    - ``summary.json``: weights, bounds, and the share of pixels in which each mode differs from mode 1
    - ``superpixels.npy``: (H, W), where the posterior is over ``superpixels``
    """
    folder.mkdir(parents=True, exist_ok=True)
    over_pixels = posterior if superpixels is None else as_pixels(posterior, superpixels)
    _write_labels(folder, over_pixels)
    write_image(folder / "image.png", displayed(image))
    write_grey(folder / "entropy_gap.png", gap * LEVELS_PER_BIT / 255)
    with _files.draft(folder / "figure.png") as draft:
        segmentation_figure(image, over_pixels, gap).save(draft, format="PNG")
    posterior.save(folder / "result.npz")
    if superpixels is not None:
        with _files.draft(folder / "superpixels.npy") as draft, open(draft, "xb") as file:
            np.save(file, np.asarray(superpixels, np.int32))
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
