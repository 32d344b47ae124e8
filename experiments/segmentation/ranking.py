"""Without an oracle: how well rankings of the modes do, on images that were not used to fit them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax, softmax

from experiments.measurements import Row
from experiments.mode_ranking import LEARNT, fit_ranking

Floats = NDArray[np.float64]

WORTH = 0.02  # gain of mean IoU over mean field that is worth choosing
FOLDS = 5
LEAST = 5e-4  # least probability of a label: those of the rows are rounded to thousandths
BINS = np.array([0.0, 0.5, 0.7, 0.8, 0.9, 0.95, 0.99, 1.01])  # of confidence, for the calibration error


@dataclass(frozen=True, eq=False)
class _Modes:
    """The modes of some images: features (K, 7), mean IoU (K,) and bounds (K,) of each image."""

    rows: list[Row]
    features: list[Floats]
    qualities: list[Floats]
    bounds: list[Floats]

    @classmethod
    def of(cls, rows: Sequence[Row]) -> _Modes:
        """Those of the images with several modes."""
        chosen = [row for row in rows if row["method"] == "ours" and len(row["by_weight"]) > 1]
        arrays = ([np.array(row[key]) for row in chosen] for key in ("features", "by_weight", "log_z"))
        return cls(chosen, *arrays)


def ranking(rows: Sequence[Row]) -> tuple[tuple[float, ...], dict[str, Any]]:
    """Coefficients fitted to all images, and the scores of several rankings.

    Rankings: ``weights`` m_k, ``tempered`` bounds, ``learnt`` coefficients, the latter two on images left out of their
    fit, and the ``shipped`` coefficients of version 0.1.
    """
    modes = _Modes.of(rows)
    learnt, tempered = _cross_validated(modes)
    rankings = {
        "weights": [softmax(bounds) for bounds in modes.bounds],
        "tempered": tempered,
        "learnt": learnt,
        "shipped": [softmax(features @ np.array(LEARNT)) for features in modes.features],
    }
    worth = [i for i, row in enumerate(modes.rows) if modes.qualities[i].max() > row["mean_field"] + WORTH]
    report: dict[str, Any] = {
        "images": len(modes.rows),
        "worth": len(worth),
        "chance": round(sum(1 / (len(modes.qualities[i]) - 1) for i in worth), 1),
        "mean field": _mean_field(modes.rows),
        **{name: _scores(modes, weights, worth) for name, weights in rankings.items()},
    }
    return fit_ranking(modes.features, modes.qualities), report


def _cross_validated(modes: _Modes) -> tuple[list[Floats], list[Floats]]:
    """Probabilities (K,) of the modes of each image by learnt coefficients and by tempering, fitted to other images."""
    images = list(dict.fromkeys((row["set"], row["image"]) for row in modes.rows))
    fold = np.array([images.index((row["set"], row["image"])) % FOLDS for row in modes.rows])
    learnt: list[Floats] = [np.zeros(0)] * len(fold)
    tempered: list[Floats] = [np.zeros(0)] * len(fold)
    for k in range(FOLDS):
        train = np.flatnonzero(fold != k)
        features, qualities, bounds = (
            [values[i] for i in train] for values in (modes.features, modes.qualities, modes.bounds)
        )
        coefficients, temperature = np.array(fit_ranking(features, qualities)), _fit_temperature(bounds, qualities)
        for i in np.flatnonzero(fold == k):
            learnt[i] = softmax(modes.features[i] @ coefficients)
            tempered[i] = softmax(modes.bounds[i] / temperature)
    return learnt, tempered


def _fit_temperature(bounds: Sequence[Floats], qualities: Sequence[Floats]) -> float:
    """The temperature of the bounds that maximises the likelihood of the best modes."""

    def loss(log_temperature: float) -> float:
        pairs = zip(bounds, qualities, strict=True)
        return -sum(float(log_softmax(bound / np.exp(log_temperature))[np.argmax(q)]) for bound, q in pairs)

    return float(np.exp(minimize_scalar(loss, bounds=(0.0, 15.0), method="bounded").x))


def _mean_field(rows: Sequence[Row]) -> dict[str, Any]:
    """The scores of mean field, which has no modes to rank."""
    single = [np.array(row["likelihoods"]["q"])[0] / 1000.0 for row in rows]
    mean_iou = 100 * float(np.mean([row["mean_field"] for row in rows]))
    return {"mean IoU": mean_iou, **_probability_scores(rows, single)}


def _scores(modes: _Modes, weights: Sequence[Floats], worth: Sequence[int]) -> dict[str, Any]:
    """How often the best mode has the largest weight where it is worth choosing, and the scores of the mixture."""
    first = [int(np.argmax(weight)) for weight in weights]
    alternatives = [
        int(np.argmax(np.where(features[:, 0] > 0, weight, -1.0)))
        for features, weight in zip(modes.features, weights, strict=True)
    ]
    qualities = modes.qualities
    mixed = [
        np.tensordot(weight, np.array(row["likelihoods"]["q"])[1:] / 1000.0, 1)
        for row, weight in zip(modes.rows, weights, strict=True)
    ]
    return {
        "best first": sum(_is_best(qualities[i], first[i]) for i in worth),
        "best first of the others": sum(_is_best(qualities[i], alternatives[i]) for i in worth),
        "mean IoU": 100 * float(np.mean([q[k] for q, k in zip(qualities, first, strict=True)])),
        **_probability_scores(modes.rows, mixed),
    }


def _is_best(qualities: Floats, chosen: int) -> bool:
    return bool(qualities[chosen] >= qualities.max() - 1e-9)


def _probability_scores(rows: Sequence[Row], probabilities: Sequence[Floats]) -> dict[str, Any]:
    """Negative log-likelihood, Brier score, accuracy and calibration of label probabilities (pixels, l) per image."""
    nll, brier, confidence, correct = [], [], [], []
    for row, q in zip(rows, probabilities, strict=True):
        true = np.array(row["likelihoods"]["true"], int)
        if len(true) == 0:
            continue
        p = np.maximum(q, LEAST)
        p /= p.sum(-1, keepdims=True)
        p_true = p[np.arange(len(true)), true]
        nll.append(-np.log(p_true).mean())
        brier.append((1 - 2 * p_true + (p**2).sum(-1)).mean())
        confidence.append(p.max(-1))
        correct.append(p.argmax(-1) == true)
    sure, hit = np.concatenate(confidence), np.concatenate(correct)
    curve = _calibration_curve(sure, hit)
    return {
        "nll": float(np.mean(nll)),
        "brier": float(np.mean(brier)),
        "right": 100 * float(hit.mean()),
        "curve": curve,
        "calibration error": sum(abs(s - h) * n for s, h, n in curve) / len(sure),
    }


def _calibration_curve(confidence: Floats, correct: NDArray[np.bool_]) -> list[list[float]]:
    """Mean confidence, share of correct labels and number of pixels of every bin that is not empty."""
    bins = np.digitize(confidence, BINS) - 1
    return [
        [float(confidence[bins == b].mean()), float(correct[bins == b].mean()), int((bins == b).sum())]
        for b in range(len(BINS) - 1)
        if (bins == b).any()
    ]
