"""One method on one image: mean IoU of its segmentations, and what they cost."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments.annotated import AnnotatedFolder, Example, Network
from experiments.measurements import Row
from experiments.mode_ranking import mode_features
from experiments.quiet import ignore_warnings
from experiments.segmentation.counted_crf import CountedCRF
from experiments.segmentation.methods import SOLVER, Method, methods
from experiments.segmentation.plan import NETWORKS, SETS
from mixfield.energy import active_labels
from mixfield.metrics import mean_iou
from mixfield.mixture import MixturePosterior
from mixfield.solvers import Mode, mean_field

SAMPLED = 100  # pixels of each image on which probabilities are compared


@dataclass(frozen=True, eq=False)
class Problem:
    """What the methods on an image share.

    Attributes
    ----------
    crf : the field, without labels that cannot matter.
    labels : (l,) the labels of ``crf``, numbered as in ``example``.
    single : its mean field.
    """

    example: Example
    crf: CountedCRF
    labels: NDArray[np.int64]
    single: Mode

    def score(self, labeling: NDArray[np.int64]) -> float:
        """Mean IoU of a labeling of ``crf``."""
        return round(mean_iou(self.example.truth, self.labels[labeling], self.example.probs.shape[-1]), 5)


def measure(folder: Path, net: Network, image: str, step: int, method: str, wanted: int) -> Row:
    """One method on one image, with ``wanted`` segmentations."""
    with ignore_warnings():
        return {
            "net": net,
            "set": folder.name,
            "image": image,
            "step": step,
            "method": method,
            **_row(_problem(folder, net, image, step), methods(step)[method], wanted),
        }


@lru_cache(maxsize=1)
def _problem(folder: Path, net: Network, image: str, step: int) -> Problem:
    example = _source(folder, net).load(image).reduced(step)
    crf = example.energy()
    labels, _ = active_labels(crf)
    counted = CountedCRF.of_energy(crf.restricted(labels) if len(labels) < crf.n_labels else crf)
    return Problem(example, counted, labels, mean_field(counted, solver=SOLVER))


@lru_cache(maxsize=len(SETS) * len(NETWORKS))
def _source(folder: Path, net: Network) -> AnnotatedFolder:
    return AnnotatedFolder(folder, net)


def _row(problem: Problem, method: Method, wanted: int) -> Row:
    """Mean IoU of mean field and of every segmentation, filterings and seconds."""
    crf = problem.crf
    crf.meter.calls, started = 0.0, time.perf_counter()
    found = method(crf, wanted)
    seconds = time.perf_counter() - started
    row: Row = {
        "wanted": wanted,
        "mean_field": problem.score(problem.single.labeling()),
        "ious": [problem.score(labeling) for labeling in found.labelings],
        "spent": [round(calls, 1) for calls in found.calls],
        "seconds": round(seconds, 2),
    }
    return row if found.posterior is None else row | _posterior(problem, found.posterior)


def _posterior(problem: Problem, posterior: MixturePosterior) -> Row:
    """What the rankings of modes without an oracle need, modes in the order of their weights."""
    features = mode_features(posterior, problem.crf, problem.example.image)
    return {
        "by_weight": [problem.score(labeling) for labeling in posterior.labelings()],
        "log_z": [mode.log_z for mode in posterior.modes],
        "features": features.round(4).tolist(),
        "likelihoods": _likelihoods(problem, posterior),
    }


def _likelihoods(problem: Problem, posterior: MixturePosterior) -> dict[str, Any]:
    """True labels and probabilities (in thousandths) at some annotated pixels: of mean field, then of every mode."""
    truth, labels = problem.example.truth.ravel(), problem.labels
    annotated = np.flatnonzero(np.isin(truth, labels))
    points = annotated
    if len(annotated):
        points = np.random.default_rng(0).choice(annotated, min(SAMPLED, len(annotated)), replace=False)
    fields = [problem.single.marginals, *(mode.marginals for mode in posterior.modes)]
    q = np.stack([np.asarray(field).reshape(-1, len(labels))[points] for field in fields])
    return {"true": np.searchsorted(labels, truth[points]).tolist(), "q": np.rint(q * 1000).astype(int).tolist()}
