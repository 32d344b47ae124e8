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
from mixfield.apps.questions import Question, questions, settled_labels
from mixfield.io.images import write_grey, write_image, write_label_map
from mixfield.mixture.posterior import MixturePosterior
from mixfield.reports.about import about_modes, is_without_doubt
from mixfield.reports.doubt import ENTROPY, GAP, Doubt, doubt_of, expected_error
from mixfield.reports.segmentation_figure import displayed, segmentation_figure

Bits = NDArray[np.float64]

LEVELS_PER_BIT = 100  # grey levels of entropy.png and entropy_gap.png
IMAGE, RESULT, SUMMARY = "image.png", "result.npz", "summary.json"
SUPERPIXELS, STROKES, NAMES = "superpixels.npy", "scribbles.png", "labels.txt"
UNKNOWN = 255  # in scribbles.png
SETTLED = "settled.png"


def segmentation_facts(posterior: MixturePosterior, names: Sequence[str] = ()) -> dict[str, Any]:
    """Doubt, weights and bounds of the modes, what each is about, and its difference from mode 1, as plain values."""
    labelings, asked = posterior.labelings(), {question.mode: question for question in questions(posterior)}
    differs = (labelings != labelings[0]).reshape(len(labelings), -1).mean(1)
    texts = about_modes(posterior, differs.tolist(), names)
    return {
        "shape": list(posterior.shape),
        "log_z": posterior.log_z,
        "calibrated": posterior.calibration is not None,
        "without_doubt": is_without_doubt(posterior),
        "weights": posterior.weights.tolist(),
        "model_weights": posterior.model_weights.tolist(),
        "doubt": expected_error(posterior),
        "one_hot": posterior.is_one_hot,
        "modes": [
            {
                "about": texts[k],
                "question": _question_facts(asked[k]) if k in asked else None,
                "log_z": mode.log_z,
                "mass_inside": mode.mass_inside,
                "converged": mode.converged,
                "differs": float(differs[k]),
                "labels": np.unique(labelings[k]).tolist(),
            }
            for k, mode in enumerate(posterior.modes)
        ],
        "notes": list(posterior.notes),
    }


def _question_facts(question: Question) -> dict[str, Any]:
    return {"old": question.old, "new": question.new, "probability": question.probability, "share": question.share}


@dataclass(frozen=True, eq=False)
class Given:
    """What a segmentation was made from, for its page.

    Attributes
    ----------
    strokes : (H, W) labels that were given, negative where unknown; None without strokes.
    names : of the labels, from 0.
    """

    strokes: NDArray[np.int64] | None = None
    names: Sequence[str] = ()


def write_segmentation(
    folder: Path, image: ArrayLike, posterior: MixturePosterior, gap: Bits | None, given: Given | None = None
) -> dict[str, Any]:
    """Write a segmentation to a folder and return the content of ``summary.json``.

    - ``image.png``: the image as it is displayed, for `mixfield report`
    - ``mode_1.png``, ...: labels of each mode, indexed PNG with PASCAL's colors, in the order of the posterior
    - ``settled.png``: labels with all settled changes, of a calibrated posterior, see `mixfield.apps.settled_labels`
    - ``marginals.npz``: ``probs`` (H, W, L), marginals of the mixture in float16; `mixfield.io.read_scores` reads them
    - ``entropy.png``: entropy of the marginals, 100 grey levels per bit
    - ``entropy_gap.png``: instead, if ``gap`` is given and the posterior is not calibrated
    - ``figure.png``: image, modes, differences and entropy side by side
    - ``result.npz``: the posterior, read by `mixfield.load`
    - ``summary.json``: doubt (`expected_error`), weights, questions, bounds, and the share of pixels in which each mode
      differs from mode 1
    - ``scribbles.png`` (255 where unknown), ``labels.txt``: what was given, if it was
    """
    given = given or Given()
    folder.mkdir(parents=True, exist_ok=True)
    _write_labels(folder, posterior)
    write_image(folder / IMAGE, displayed(image))
    doubt = doubt_of(posterior, gap)
    _write_doubt(folder, doubt)
    with _files.draft(folder / "figure.png") as draft:
        segmentation_figure(image, posterior, doubt, names=given.names).save(draft, format="PNG")
    posterior.save(folder / RESULT, compact=True)
    _write_given(folder, given)
    summary = segmentation_facts(posterior, given.names)
    _files.write_text(folder / SUMMARY, json.dumps(summary, indent=1) + "\n")
    return summary


def _write_doubt(folder: Path, doubt: Doubt) -> None:
    """The map of doubt; that of an earlier run may be of the other kind and is removed."""
    for kind in (ENTROPY, GAP):
        (folder / f"{kind}.png").unlink(missing_ok=True)
    write_grey(folder / f"{doubt.kind}.png", doubt.bits * LEVELS_PER_BIT / 255)


def _write_labels(folder: Path, posterior: MixturePosterior) -> None:
    """Label maps and marginals; label maps of an earlier run, which may have had more modes, are removed."""
    for stale in (*folder.glob("mode_*.png"), folder / SETTLED):
        stale.unlink(missing_ok=True)
    for k, labels in enumerate(posterior.labelings(), 1):
        write_label_map(folder / f"mode_{k}.png", labels)
    if posterior.calibration is not None:
        write_label_map(folder / SETTLED, settled_labels(posterior))
    with _files.draft(folder / "marginals.npz") as draft, open(draft, "xb") as file:
        np.savez_compressed(file, probs=posterior.marginals().astype(np.float16))


def _write_given(folder: Path, given: Given) -> None:
    """Strokes and names; superpixels of an earlier version are removed, they would not fit the posterior."""
    (folder / SUPERPIXELS).unlink(missing_ok=True)
    if given.strokes is not None:
        write_label_map(folder / STROKES, np.where(given.strokes < 0, UNKNOWN, given.strokes))
    if given.names:
        _files.write_text(folder / NAMES, "\n".join(given.names) + "\n")
