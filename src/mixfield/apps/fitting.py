"""Fit a model of the field to annotated images, by the likelihood of their pixels."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize

from mixfield import _arrays
from mixfield.apps.evidence import probabilities
from mixfield.apps.field_model import FieldModel, Measure
from mixfield.apps.kernels import Kernels
from mixfield.apps.pictures import intensities
from mixfield.apps.questions import ChangeFeatures, Logistic
from mixfield.energy.dense_crf import DenseCRF
from mixfield.errors import MixfieldError, NotConvergedWarning
from mixfield.metrics.calibration import calibration_error
from mixfield.metrics.segmentation import VOID, mean_iou
from mixfield.mixture.posterior import MixturePosterior
from mixfield.solvers.mean_field import mean_field
from mixfield.solvers.mode import Mode
from mixfield.solvers.options import Solver

Floats = NDArray[np.float64]

SETTINGS = tuple(
    (exponent, Kernels(smooth_weight=smooth, sxy=sxy, srgb=srgb, weight=weight))
    for exponent, (smooth, sxy, srgb, weight) in product(
        (0.6, 0.8, 1.0), ((1.0, 67.0, 3.0, 1.4), (1.0, 40.0, 8.0, 1.5), (0.5, 40.0, 8.0, 2.5), (3.0, 67.0, 3.0, 4.0))
    )
)
MODES = 8  # of each image, whose changes are the questions to calibrate
PIXELS = 2000  # of each image, on which likelihoods are measured
BLENDED = 300  # of these, on which the exponents of the blend are fitted
SMALLEST = 5e-4  # probability at which the loss of a pixel ends
NEUTRAL = Logistic(0.0, 1.0, 0.0)
RESAMPLES, CALIBRATION_RESAMPLES = 2000, 200  # of the bootstrap of means, and of calibration errors
CALIBRATED = 200  # pixels of each image, of which the calibration error is measured


@dataclass(frozen=True, eq=False)
class Example:
    """An annotated image: intensities (H, W, C), probabilities (H, W, L), truth (H, W), and sampled pixels (p,)."""

    picture: NDArray[np.floating]
    probs: NDArray[np.float32]
    truth: NDArray[np.int64]
    pixels: NDArray[np.int64]

    @property
    def labels(self) -> NDArray[np.int64]:
        """(p,) true labels of the sampled pixels."""
        return self.truth.ravel()[self.pixels]

    def sampled(self, marginals: NDArray[np.floating]) -> Floats:
        """(p, L) of marginals (H, W, L)."""
        return np.asarray(marginals.reshape(-1, marginals.shape[-1])[self.pixels], np.float64)


@dataclass(frozen=True, eq=False)
class Modes:
    """The modes of one image: features and gains of changes, and marginals (K, p, L) of sampled pixels, root first."""

    features: tuple[ChangeFeatures, ...]
    better: Floats  # (K - 1,) whether the truth agrees more with the new labels than with the old
    best: int  # the mode with the highest mean IoU
    marginals: Floats
    evidence: Floats
    labels: NDArray[np.int64]

    def thinned(self, pixels: int) -> Modes:
        """With the first of the sampled pixels only."""
        return replace(
            self,
            marginals=self.marginals[:, :pixels],
            evidence=self.evidence[:pixels],
            labels=self.labels[:pixels],
        )


def fit(
    images: Iterable[ArrayLike],
    scores: Iterable[ArrayLike],
    truths: Iterable[ArrayLike],
    *,
    settings: Sequence[tuple[float, Kernels]] = SETTINGS,
    folds: int = 5,
    void: int = VOID,
    logits: bool = False,
    search: Kernels | None = Kernels.deeplab(),  # noqa: B008
    solver: Solver | None = None,
    rng: int | np.random.Generator = 0,
    progress: Callable[[int], None] | None = None,
) -> FieldModel:
    """Fit the field behind network scores to annotated images.

    Parameters
    ----------
    images, scores, truths : as for `segment`, and true labels (H, W), of at least two images.
    settings : exponents of the scores and kernels to choose from.
    folds : of the cross-validation by which the table of the model is measured.
    void : true label of pixels that do not count.
    logits : the scores are logits or log-probabilities.
    search : kernels of the field whose modes are the alternatives; None for the chosen field itself.
    solver : of each mean field.
    rng : seed or generator, for the sampled pixels.
    progress : called with the number of steps done, one per image and setting.

    Returns
    -------
    FieldModel
        Its ``table`` has the loss of pixels, the mean IoU, and the calibration errors of pixels and answers on held-out
        images against the scores alone.  If no setting has a lower held-out loss than the scores, its ``kernels`` are
        None.
    """
    _arrays.at_least("folds", folds, 2)
    generator, steps = _arrays.generator(rng), _Steps(progress)
    examples = [example(*one, void, logits, generator) for one in zip(images, scores, truths, strict=True)]
    if len(examples) < 2:
        raise MixfieldError(f"images must hold at least two annotated images to leave one out, got {len(examples)}")
    losses = np.array([[_field_loss(image, one, solver, steps) for one in settings] for image in examples])
    exponent, kernels = settings[int(losses.mean(0).argmin())]
    blank = replace(_model(exponent, kernels), search=search)
    modes = [_modes(image, blank, solver, steps) for image in examples]
    held_out, judges = np.empty(len(examples)), dict[int, FieldModel]()
    for fold in range(min(folds, len(examples))):
        inside = [one for k, one in enumerate(modes) if k % folds != fold]
        model = calibrated(blank, inside)
        for k in range(fold, len(examples), folds):
            held_out[k], judges[k] = _loss(model, modes[k]), model
    before = np.array([log_loss(one.evidence, one.labels) for one in modes])
    table = (
        measured("negative log-likelihood", before, held_out),
        _iou(examples, exponent, kernels, solver),
        *_calibration([judges[k] for k in range(len(modes))], modes),
    )
    fitted = calibrated(blank if held_out.mean() < before.mean() else replace(blank, kernels=None, search=None), modes)
    return replace(fitted, images=len(examples), fingerprint=_hash(examples), table=table)


class _Steps:
    """Counts steps for a progress bar."""

    def __init__(self, progress: Callable[[int], None] | None) -> None:
        self._progress, self._done = progress, 0

    def done(self) -> None:
        self._done += 1
        if self._progress is not None:
            self._progress(self._done)


def example(
    image: ArrayLike, scores: ArrayLike, truth: ArrayLike, void: int, logits: bool, rng: np.random.Generator
) -> Example:
    picture = intensities(image)
    probs = probabilities(scores, picture.shape[:2], logits=logits)
    probs = probs / probs.sum(-1, keepdims=True)
    labels = np.asarray(truth)
    _arrays.check_shape("truths", labels, picture.shape[:2], "= (height, width) of its image")
    known = np.flatnonzero((labels.ravel() != void) & (labels.ravel() < probs.shape[-1]))
    if len(known) == 0:
        raise MixfieldError("truths must hold pixels that count, got an image of nothing but void")
    pixels = rng.choice(known, min(PIXELS, len(known)), replace=False)
    return Example(picture, probs.astype(np.float32), np.where(labels == void, VOID, labels).astype(np.int64), pixels)


def _model(exponent: float, kernels: Kernels | None) -> FieldModel:
    return FieldModel(exponent, kernels, NEUTRAL, NEUTRAL, 1.0, 0.0)


def _field_loss(image: Example, setting: tuple[float, Kernels], solver: Solver | None, steps: _Steps) -> float:
    """The loss of the mean field of a setting, blended with the scores as well as possible."""
    energy = _model(*setting).energy(image.probs, image.picture)
    q = _mean_field(energy, solver).marginals
    marginals, evidence = image.sampled(q)[None], image.sampled(image.probs)
    steps.done()
    blends = ((0.1, 0.8), (0.2, 0.7), (0.4, 0.5), (0.0, 1.0))
    return min(log_loss(_mixed(np.ones(1), marginals, evidence, *blend), image.labels) for blend in blends)


def _mean_field(energy: DenseCRF, solver: Solver | None) -> Mode:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConvergedWarning)  # one setting of many
        return mean_field(energy, solver=solver)


def _modes(image: Example, model: FieldModel, solver: Solver | None, steps: _Steps) -> Modes:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        posterior = model.modes(image.probs, image.picture, MODES, solver=solver)
    steps.done()
    return summary(image, posterior)


def summary(image: Example, posterior: MixturePosterior) -> Modes:
    """What `calibrated` needs of the modes of an annotated image."""
    root = posterior.root_mode
    order = [root, *(k for k in range(len(posterior.modes)) if k != root)]
    labelings = posterior.labelings()[order]
    truth, known = image.truth, image.truth != VOID
    right = [int(((labels == truth) & known).sum()) for labels in labelings]
    ious = [mean_iou([truth], [labels], image.probs.shape[-1]) for labels in labelings]
    return Modes(
        tuple(ChangeFeatures.of(image.probs, labelings[0], labels) for labels in labelings[1:]),
        np.array([float(count > right[0]) for count in right[1:]]),
        int(np.argmax(ious)),
        np.stack([image.sampled(posterior.modes[k].marginals) for k in order]),
        image.sampled(image.probs),
        image.labels,
    )


def calibrated(model: FieldModel, images: Sequence[Modes]) -> FieldModel:
    """A model with its answers, weights and blend fitted to some images."""
    answer = _logistic([one for image in images for one in image.features], np.concatenate([i.better for i in images]))
    fitted = replace(model, answer=answer, weight=_weights(images))
    few = [image.thinned(BLENDED) for image in images]

    def loss(x: Floats) -> float:
        blended = replace(fitted, mode_exponent=float(abs(x[0])), evidence_exponent=float(abs(x[1])))
        return float(np.mean([_loss(blended, image) for image in few]))

    found = minimize(loss, [0.15, 0.8], method="Nelder-Mead", options={"maxiter": 60, "xatol": 0.01, "fatol": 1e-5})
    a, c = (float(round(abs(x), 4)) for x in found.x)
    return replace(fitted, mode_exponent=a, evidence_exponent=c)


def _logistic(features: Sequence[ChangeFeatures], better: Floats) -> Logistic:
    """Logistic regression with a weak penalty on the slopes."""
    x = np.array([[1.0, one.logit, one.log_share] for one in features])

    def loss(b: Floats) -> float:
        odds = x @ b
        return float((np.logaddexp(0, odds) - better * odds).mean() + 1e-3 * (b[1:] ** 2).sum())

    return Logistic(*(float(round(v, 4)) for v in minimize(loss, np.zeros(3), method="BFGS").x)) if len(x) else NEUTRAL


def _weights(images: Sequence[Modes]) -> Logistic:
    """Log-weights under which the best mode of each image is as probable as possible."""
    tables = [np.array([[1.0, one.logit, one.log_share] for one in image.features]) for image in images]

    def loss(b: Floats) -> float:
        total = 0.0
        for table, image in zip(tables, images, strict=True):
            scores = np.concatenate([[0.0], table @ b]) if len(table) else np.zeros(1)
            total += float(np.logaddexp.reduce(scores) - scores[image.best])
        return total / len(images) + 1e-3 * float((b[1:] ** 2).sum())

    return Logistic(*(float(round(v, 4)) for v in minimize(loss, np.zeros(3), method="BFGS").x))


def _loss(model: FieldModel, image: Modes) -> float:
    """The loss of the pixels of an image under the calibrated mixture."""
    return log_loss(_mixture(model, image), image.labels)


def _mixture(model: FieldModel, image: Modes) -> Floats:
    """(p, L) calibrated marginals of the sampled pixels."""
    scores = np.array([0.0, *(model.weight.score(one) for one in image.features)])
    weights = np.exp(scores - scores.max())
    return _mixed(
        weights / weights.sum(), image.marginals, image.evidence, model.mode_exponent, model.evidence_exponent
    )


def _mixed(weights: Floats, marginals: Floats, evidence: Floats, a: float, c: float) -> Floats:
    """(p, L) mixture of blended marginals (K, p, L)."""
    logs = a * np.log(np.maximum(marginals, 1e-6)) + c * np.log(np.maximum(evidence, 1e-6))
    q = np.exp(logs - logs.max(-1, keepdims=True))
    return np.asarray(np.tensordot(weights, q / q.sum(-1, keepdims=True), 1))


def log_loss(p: Floats, labels: NDArray[np.int64]) -> float:
    return float(-np.log(np.maximum(p[np.arange(len(labels)), labels], SMALLEST)).mean())


def _iou(examples: Sequence[Example], exponent: float, kernels: Kernels, solver: Solver | None) -> Measure:
    """Mean IoU of the root mode of each image, against that of the scores."""
    rows = []
    for image in examples:
        energy = _model(exponent, kernels).energy(image.probs, image.picture)
        mode = _mean_field(energy, solver)
        n_labels = image.probs.shape[-1]
        rows.append([mean_iou([image.truth], [x], n_labels) for x in (image.probs.argmax(-1), mode.labeling())])
    before, after = np.array(rows).T
    return measured("mean IoU", before, after)


def measured(name: str, before: Floats, after: Floats) -> Measure:
    """Means, and a bootstrap interval of the mean difference."""
    change, rng = after - before, np.random.default_rng(0)
    means = change[rng.integers(0, len(change), (RESAMPLES, len(change)))].mean(1)
    low, high = np.quantile(means, (0.025, 0.975))
    return Measure(name, *(float(round(v, 5)) for v in (before.mean(), after.mean(), low, high)))


def _calibration(models: Sequence[FieldModel], images: Sequence[Modes]) -> list[Measure]:
    """Calibration errors of labels of pixels, and of answers against the mean probability of the new labels."""
    both = list(zip(models, images, strict=True))
    pixels = [
        tuple(_most_probable(p[:CALIBRATED], image.labels) for p in (image.evidence, _mixture(model, image)))
        for model, image in both
    ]
    answers = [
        tuple(
            np.array([[how.probability(one), better] for one, better in zip(image.features, image.better, strict=True)])
            for how in (NEUTRAL, model.answer)
        )
        for model, image in both
        if image.features
    ]
    rows = [("calibration error of pixels", pixels), ("calibration error of answers", answers)]
    return [_pooled(name, pairs) for name, pairs in rows if pairs]


def _most_probable(p: Floats, labels: NDArray[np.int64]) -> Floats:
    """(p, 2) probability of the most probable label, and whether it is right."""
    return np.stack([p.max(-1), p.argmax(-1) == labels[: len(p)]], -1)


def _pooled(name: str, images: Sequence[tuple[Floats, ...]]) -> Measure:
    """Calibration errors before and after of the events of all images, with a bootstrap over images."""
    rng, count = np.random.default_rng(0), len(images)

    def errors(chosen: Iterable[int]) -> list[float]:
        return [calibration_error(*np.concatenate([images[k][side] for k in chosen]).T) for side in (0, 1)]

    (before, after), draws = errors(range(count)), rng.integers(0, count, (CALIBRATION_RESAMPLES, count)).tolist()
    low, high = np.quantile([np.diff(errors(draw))[0] for draw in draws], (0.025, 0.975))
    return Measure(name, *(float(round(v, 5)) for v in (before, after, low, high)))


def _hash(examples: Sequence[Example]) -> str:
    """A fingerprint of the data."""
    digest = hashlib.sha256()
    for image in examples:
        digest.update(np.ascontiguousarray(image.truth).tobytes())
        digest.update(np.ascontiguousarray(image.probs[::16, ::16]).tobytes())
    return digest.hexdigest()[:16]
