"""Fit a model of the field to annotated images, by the likelihood of their pixels."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import product
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mixfield import _arrays
from mixfield._pictures import intensities
from mixfield.apps.evidence import probabilities
from mixfield.apps.field_model import SEARCHED, FieldModel, Measure
from mixfield.apps.kernels import Kernels
from mixfield.apps.mode_calibration import (
    NEUTRAL,
    Example,
    Modes,
    calibrated,
    held_out_loss,
    log_loss,
    summary,
)
from mixfield.energy.dense_crf import DenseCRF
from mixfield.errors import MixfieldError, NotConvergedWarning
from mixfield.metrics.calibration import calibration_error
from mixfield.metrics.segmentation import VOID, mean_iou
from mixfield.mixture.calibration import Blend, label_frequencies
from mixfield.solvers.mean_field import mean_field
from mixfield.solvers.mode import Mode
from mixfield.solvers.options import Solver

Floats = NDArray[np.float64]
Result = TypeVar("Result")

EXPONENTS = (0.6, 0.7, 0.8, 1.0)
SETTINGS = tuple(
    (exponent, Kernels(smooth_weight=smooth, sxy=sxy, srgb=srgb, weight=weight))
    for exponent, (smooth, sxy, srgb, weight) in product(
        EXPONENTS, ((1.0, 67.0, 3.0, 1.4), (1.0, 40.0, 8.0, 1.5), (0.5, 40.0, 8.0, 2.5), (3.0, 67.0, 3.0, 4.0))
    )
)
PIXELS = 2000  # of each image, on which likelihoods are measured
BLENDS = tuple(Blend(*pair) for pair in ((0.1, 0.8), (0.2, 0.7), (0.4, 0.5), (0.0, 1.0)))  # tried with each setting
BALANCES = (0.0, 0.1)  # to choose from by mean IoU
RESAMPLES, CALIBRATION_RESAMPLES = 2000, 200  # of the bootstrap of means, and of calibration errors
CALIBRATED = 200  # pixels of each image, of which the calibration error is measured


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
    losses = np.array([[steps.done(field_loss(image, one, solver)) for one in settings] for image in examples])
    chosen = settings[int(losses.mean(0).argmin())]
    ious = np.array([balance_ious(image, chosen, solver) for image in examples])
    best = int(ious.mean(0).argmax())
    blank = replace(_model(*chosen), search=search, balance=BALANCES[best])
    modes = [_modes(image, blank, solver, steps) for image in examples]
    held_out, judges = np.empty(len(examples)), dict[int, FieldModel]()
    for fold in range(min(folds, len(examples))):
        inside = [one for k, one in enumerate(modes) if k % folds != fold]
        model = calibrated(blank, inside)
        for k in range(fold, len(examples), folds):
            held_out[k], judges[k] = held_out_loss(model, modes[k]), model
    before = np.array([log_loss(one.evidence, one.labels) for one in modes])
    scores_ious = np.array([_image_iou(image, image.probs.argmax(-1)) for image in examples])
    table = (
        measured("negative log-likelihood", before, held_out),
        measured("mean IoU", scores_ious, ious[:, best]),
        *_calibration([judges[k] for k in range(len(modes))], modes),
    )
    fitted = calibrated(blank if held_out.mean() < before.mean() else replace(blank, kernels=None, search=None), modes)
    return replace(fitted, images=len(examples), fingerprint=_hash(examples), table=table)


class _Steps:
    """Counts steps for a progress bar."""

    def __init__(self, progress: Callable[[int], None] | None) -> None:
        self._progress, self._done = progress, 0

    def done(self, result: Result) -> Result:
        """Count the step that had this result."""
        self._done += 1
        if self._progress is not None:
            self._progress(self._done)
        return result


def example(
    image: ArrayLike, scores: ArrayLike, truth: ArrayLike, void: int, logits: bool, rng: np.random.Generator
) -> Example:
    picture = intensities(image)
    probs = probabilities(scores, picture.shape[:2], logits=logits)
    labels = np.asarray(truth)
    _arrays.check_shape("truths", labels, picture.shape[:2], "= (height, width) of its image")
    known = np.flatnonzero((labels.ravel() != void) & (labels.ravel() < probs.shape[-1]))
    if len(known) == 0:
        raise MixfieldError("truths must hold pixels that count, got an image of nothing but void")
    pixels = rng.choice(known, min(PIXELS, len(known)), replace=False)
    return Example(picture, probs, np.where(labels == void, VOID, labels).astype(np.int64), pixels)


def _model(exponent: float, kernels: Kernels | None) -> FieldModel:
    return FieldModel(exponent, kernels, NEUTRAL, NEUTRAL, Blend(1.0, 0.0))


def field_loss(image: Example, setting: tuple[float, Kernels], solver: Solver | None = None) -> float:
    """The loss of the mean field of an exponent and kernels, blended with the scores as well as possible."""
    energy = _model(*setting).energy(image.probs, image.picture)
    q = _mean_field(energy, solver).marginals
    marginals, evidence, frequencies = image.sampled(q), image.sampled(image.probs), label_frequencies(image.probs)
    return min(log_loss(blend.of(marginals, evidence, frequencies), image.labels) for blend in BLENDS)


def balance_ious(image: Example, setting: tuple[float, Kernels], solver: Solver | None = None) -> Floats:
    """Mean IoU of the mean field with each of `BALANCES`."""
    models = [replace(_model(*setting), balance=balance) for balance in BALANCES]
    fields = [_mean_field(model.energy(image.probs, image.picture), solver) for model in models]
    return np.array([_image_iou(image, mode.labeling()) for mode in fields])


def _mean_field(energy: DenseCRF, solver: Solver | None) -> Mode:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConvergedWarning)  # one setting of many
        return mean_field(energy, solver=solver)


def _modes(image: Example, model: FieldModel, solver: Solver | None, steps: _Steps) -> Modes:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        posterior = model.modes(image.probs, image.picture, SEARCHED, solver=solver)
    return steps.done(summary(image, posterior))


def _image_iou(image: Example, labels: NDArray[np.integer]) -> float:
    return mean_iou([image.truth], [labels], image.probs.shape[-1])


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
        tuple(
            _most_probable(p[:CALIBRATED], image.labels)
            for p in (image.evidence, image.offered(model).mixture(model.blending))
        )
        for model, image in both
    ]
    answers = [
        tuple(
            np.stack([[how.probability(one) for one in image.features[1:]], image.better[1:]], -1)
            for how in (NEUTRAL, model.answer)
        )
        for model, image in both
        if len(image.features) > 1
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
