"""Five folds: fit the calibration on four fifths of the images, measure every image with a fit that did not see it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax

from experiments.annotated import VOID
from experiments.belief.edges import straight_edge
from experiments.belief.modes import EXPONENTS, MODES, Case, SavedCase, annotated, scaled
from experiments.measurements import Row
from mixfield.apps.change_features import change_features
from mixfield.apps.expected_iou import balanced_labels
from mixfield.apps.field_model import FieldModel
from mixfield.apps.measure import measured
from mixfield.apps.mode_calibration import Example, Modes, calibrated, log_loss, root_first, summary
from mixfield.apps.offers import DISTINCT
from mixfield.apps.questions import settled_labels
from mixfield.metrics.segmentation import confusion, mean_iou
from mixfield.mixture.posterior import MixturePosterior

Floats = NDArray[np.float64]
Labels = NDArray[np.integer]

FOLDS = 5
COUNTS = (2, 4, 8)


ChooseField = Callable[[Sequence[Row]], FieldModel]


def default_field(_: Sequence[Row]) -> FieldModel:
    """The default model, whatever the images."""
    return FieldModel.default()


def own_field(rows: Sequence[Row]) -> FieldModel:
    """The default model with the exponent of the lowest loss of these images, of rows of `save_modes`."""
    best = int(np.mean([row["field_losses"] for row in rows], 0).argmin())
    return replace(FieldModel.default(), exponent=EXPONENTS[best])


def measure_folds(cases: Sequence[SavedCase], choose: ChooseField = default_field) -> list[Row]:
    """A row of measurements for every case, by a model that is fitted to the images of other folds.

    Folds are by image, so that both networks and all sizes share them.  Cases are loaded one after the other, twice:
    they would not fit into memory together.
    """
    names = sorted({case.name for case in cases})
    fold_of = [names.index(case.name) % FOLDS for case in cases]
    fields = [choose([case.row for case, k in zip(cases, fold_of, strict=True) if k != fold]) for fold in range(FOLDS)]
    rows: dict[int, Row] = {}
    for field in set(fields):
        seen = [_seen(case.load(field)) for case in cases]
        for fold in (fold for fold in range(FOLDS) if fields[fold] == field):
            inside = [one for one, k in zip(seen, fold_of, strict=True) if k != fold]
            model, exponents = calibrated(field, [one.modes for one in inside]), _best_exponents(inside)
            for k in (k for k in range(len(cases)) if fold_of[k] == fold):
                rows[k] = measure(cases[k].load(field), model, exponents[cases[k].network])
    return [rows[k] for k in range(len(cases))]


@dataclass(frozen=True, eq=False)
class _Seen:
    """What the fits need of a case."""

    network: str
    modes: Modes


def _seen(case: Case) -> _Seen:
    return _Seen(case.network, summary(annotated(case.example), root_first(case.fitted)))


def fit_all(cases: Sequence[SavedCase], rows: Sequence[Row]) -> FieldModel:
    """The default model with its calibration fitted to all cases, and the losses of the folds in its table."""
    default = FieldModel.default()
    modes = [_seen(case.load(default)).modes for case in cases]
    names = {"all": "negative log-likelihood", "dl513": "... strong network", "dl257": "... weak network"}
    table = []
    for network, title in names.items():
        part = [row for row in rows if network in ("all", row["network"])]
        losses = (_by_photograph(part, [row["losses"][what] for row in part]) for what in ("softmax", "model"))
        table.append(measured(title, *losses))
    ious = (_by_photograph(rows, [row[key] / 100 for row in rows]) for key in ("scores_iou", "first_iou"))
    photographs = len({case.name for case in cases})
    return replace(calibrated(default, modes), images=photographs, table=(*table, measured("mean IoU", *ious)))


def _by_photograph(rows: Sequence[Row], values: Sequence[float]) -> Floats:
    """The mean of each photograph over its rows, which are not independent of each other."""
    _, photographs = np.unique([row["image"] for row in rows], return_inverse=True)
    return np.asarray(np.bincount(photographs, values) / np.bincount(photographs))


def measure(case: Case, model: FieldModel, exponent: float) -> Row:
    """The measurements of one image: ``model`` and ``exponent`` (of the scores) were fitted without it."""
    step, image = case.example.step, annotated(case.example)
    posterior, without_end = (
        scaled(one, step).calibrate(case.fitted, case.example.probs, case.example.image, MODES)
        for one in (model, replace(model, least_gain=0.0))
    )
    truth, labelings = case.example.truth, posterior.labelings()
    ious = [_iou(truth, labels) for labels in labelings]
    everything = [[_iou(truth, labels) for labels in one.labelings()] for one in (without_end, case.fitted)]
    deeplab = case.deeplab.labelings()
    by_weight = [_iou(truth, labels) for labels in deeplab]
    return {
        "network": case.network,
        "set": case.subset,
        "image": case.example.name,
        "step": step,
        "losses": _losses(case, image, posterior, exponent),
        "scores_iou": _iou(truth, case.example.probs.argmax(-1)),
        "deeplab_iou": _iou(truth, deeplab[case.deeplab.root_mode]),
        "deeplab_by_weight": by_weight,
        "deeplab_log_weights": log_softmax([mode.log_z for mode in case.deeplab.modes]).tolist(),
        "first_iou": ious[0],
        "ious": ious,
        "eight_ious": everything[0],
        "all_ious": everything[1],
        "balanced_scores_iou": _iou(truth, balanced_labels(case.example.probs)),
        "settled_iou": _iou(truth, settled_labels(posterior)),
        "confusions": {
            "scores": _counts(truth, case.example.probs.argmax(-1)),
            "deeplab": _counts(truth, deeplab[case.deeplab.root_mode]),
            "first": _counts(truth, labelings[0]),
        },
        "answers": _answers(model, case),
        "log_score": _log_score(posterior.weights, ious),
        "log_score_of_eight": _log_score(without_end.weights, everything[0]),
        "n_modes": len(ious),
        "close_pairs": _close_pairs(labelings),
        "straight": [straight_edge(labels != labelings[0], case.example.image) for labels in labelings[1:]],
        "straight_truth": [straight_edge(truth == label, case.example.image) for label in _objects(truth)],
    }


def _log_score(weights: Floats, ious: Sequence[float]) -> float:
    """Logarithm of the weight of the best mode, above that of uniform weights."""
    return float(np.log(max(weights[int(np.argmax(ious))], 1e-300)) + np.log(len(ious)))


def _best_exponents(seen: Sequence[_Seen]) -> dict[str, float]:
    """The exponent of each network's scores with the lowest loss."""
    found: dict[str, float] = {}
    for network in sorted({one.network for one in seen}):
        part = [one.modes for one in seen if one.network == network]

        def loss(exponent: float, part: Sequence[Modes] = part) -> float:
            return float(np.mean([log_loss(_power(one.evidence, exponent), one.labels) for one in part]))

        found[network] = float(minimize_scalar(loss, bounds=(0.3, 2.0), method="bounded").x)
    return found


def _losses(case: Case, image: Example, posterior: MixturePosterior, exponent: float) -> dict[str, float]:
    """Negative log-likelihoods of the sampled pixels."""
    evidence, labels = image.sampled(image.probs), image.labels
    deeplab = [image.sampled(mode.marginals) for mode in case.deeplab.modes]
    return {
        "softmax": log_loss(evidence, labels),
        "softmax at its best temperature": log_loss(_power(evidence, exponent), labels),
        "deeplab kernels, paper's weights": log_loss(_average(case.deeplab.weights, deeplab), labels),
        "deeplab kernels, uniform weights": log_loss(np.mean(deeplab, 0), labels),
        "model": log_loss(image.sampled(posterior.marginals()), labels),
    }


def _average(weights: Floats, marginals: Sequence[Floats]) -> Floats:
    return np.asarray(np.tensordot(weights, np.stack(marginals), 1))


def _power(p: Floats, exponent: float) -> Floats:
    q = np.maximum(p, 1e-8) ** exponent
    return np.asarray(q / q.sum(-1, keepdims=True))


def _answers(model: FieldModel, case: Case) -> list[tuple[float, bool]]:
    """Probability of the new labels of every cut, and whether they agree better with the truth than the old ones."""
    truth, labelings, root = case.example.truth, case.fitted.labelings(), case.fitted.root_mode
    right = [int(((labels == truth) & (truth != VOID)).sum()) for labels in labelings]
    features = change_features(case.example.probs, labelings, root, case.example.image)
    return [(model.answer.probability(one), right[k] > right[root]) for k, one in enumerate(features) if k != root]


def _close_pairs(labelings: Labels) -> tuple[int, int]:
    """How many pairs of labelings differ on less than 2 % of the pixels, of how many pairs."""
    n = len(labelings)
    pairs = [(j, k) for j in range(n) for k in range(j)]
    return sum(float((labelings[j] != labelings[k]).mean()) < DISTINCT for j, k in pairs), len(pairs)


def _objects(truth: Labels) -> list[int]:
    """The annotated labels but the background."""
    return [int(label) for label in np.unique(truth) if label not in (0, VOID)]


def _iou(truth: Labels, labels: Labels) -> float:
    return 100 * mean_iou([truth], [labels])


def _counts(truth: Labels, labels: Labels) -> list[tuple[int, int, int]]:
    """True label, label and number of pixels, for the pairs that occur."""
    table = confusion(truth, labels)
    return [(int(t), int(label), int(table[t, label])) for t, label in np.argwhere(table)]
