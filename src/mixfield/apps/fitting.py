"""Fit a model of the field to annotated images, by the likelihood of their pixels."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import zip_longest
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mixfield import _arrays, _threads
from mixfield._pictures import intensities
from mixfield.apps.alternatives import disjoint_changes
from mixfield.apps.evidence import probabilities
from mixfield.apps.field_choice import (
    BALANCES,
    SETTINGS,
    Setting,
    balance_ious,
    field_losses,
    model_of,
    reduced,
)
from mixfield.apps.field_model import SEARCHED, FieldModel
from mixfield.apps.kernels import Kernels
from mixfield.apps.measure import Measure, calibration_measured, measured
from mixfield.apps.mode_calibration import (
    NEUTRAL,
    Example,
    Modes,
    calibrated,
    held_out_loss,
    root_first,
    summary,
)
from mixfield.apps.offers import Comparison
from mixfield.errors import MixfieldError
from mixfield.metrics.segmentation import VOID
from mixfield.mixture.calibration import Blend
from mixfield.mixture.posterior import MixturePosterior
from mixfield.solvers.mode import Mode
from mixfield.solvers.options import Solver

Floats = NDArray[np.float64]
Choice = tuple[int, int]  # numbers of a setting and of a balance
Found = TypeVar("Found")

PIXELS = 2000  # of each image, on which likelihoods are measured
CALIBRATED = 200  # pixels of each image, of which the calibration error is measured
MEAN_IOU = "mean IoU"  # row of the table
SCORES_ALONE = FieldModel(1.0, None, NEUTRAL, NEUTRAL, Blend(0.0, 1.0))  # its marginals are the scores
STEPS = 10  # of an image: one for the losses of the settings, the others for its modes
ALL = -1  # no fold is left out
END: Any = object()  # of a source that ends before the others


def fit(
    images: Iterable[ArrayLike],
    scores: Iterable[ArrayLike],
    truths: Iterable[ArrayLike],
    *,
    settings: Sequence[Setting] = SETTINGS,
    folds: int = 5,
    void: int = VOID,
    logits: bool = False,
    search: Kernels | None = Kernels.deeplab(),  # noqa: B008
    solver: Solver | None = None,
    rng: int | np.random.Generator = 0,
    progress: Callable[[int], None] | None = None,
    names: Sequence[str] | None = None,
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
    solver : of each mean field; with several threads, as many images at once.
    rng : seed or generator, for the sampled pixels.
    progress : called with the number of steps done, of `STEPS` for each image.
    names : of the images, for error messages; by default their numbers from 0.

    Returns
    -------
    FieldModel
        Its ``table`` has the loss of pixels, the mean IoU, and the calibration errors of pixels and answers on held-out
        images against the scores alone: in each fold, everything is chosen and fitted without its images.  If that
        has no lower loss than the scores, the model is the scores alone, without ``kernels``, and its table says so.
    """
    _arrays.at_least("folds", folds, 2)
    if len(settings) == 0:
        raise MixfieldError("settings must hold at least one pair of an exponent and kernels, got none")
    examples = _examples((images, scores, truths), names, void, logits, _arrays.generator(rng))
    steps, solver = _Steps(progress), Solver() if solver is None else solver
    small = [reduced(image) for image in examples]
    losses = np.array([steps.done(row) for row in _each(field_losses, small, solver, settings)])
    ious = cache(lambda setting: np.array(list(_each(balance_ious, small, solver, settings[setting]))))
    parts = np.arange(len(examples)) % folds
    of_all, *of_folds = (_choose(losses, ious, parts != fold) for fold in (ALL, *range(min(folds, len(examples)))))
    blanks = {
        (setting, balance): replace(model_of(settings[setting]), search=search, balance=BALANCES[balance])
        for setting, balance in (of_all, *of_folds)
    }
    modes = [steps.done(found, STEPS - 1) for found in _each(_modes, examples, solver, blanks)]
    judged: dict[int, _Judged] = {}
    for fold, choice in enumerate(of_folds):
        own = [choices[choice] for choices in modes]
        model = calibrated(blanks[choice], [own[k] for k in np.flatnonzero(parts != fold)])
        judged |= {k: _Judged(model, own[k]) for k in np.flatnonzero(parts == fold).tolist()}
    held_out = [judged[k] for k in range(len(examples))]
    alone = _scores_alone(held_out, [image.iou(image.probs.argmax(-1)) for image in examples])
    if _mean_loss(held_out) < _mean_loss(alone):
        fitted = calibrated(blanks[of_all], [choices[of_all] for choices in modes])
    else:
        fitted, held_out = SCORES_ALONE, alone
    return replace(fitted, images=len(examples), fingerprint=_hash(examples), table=_table(held_out, alone))


def _choose(losses: Floats, ious: Callable[[int], Floats], inside: NDArray[np.bool_]) -> Choice:
    """The setting with the lowest loss, and with it the balance with the highest mean IoU, on some of the images."""
    setting = int(losses[inside].mean(0).argmin())
    return setting, int(ious(setting)[inside].mean(0).argmax())


@dataclass(frozen=True, eq=False)
class _Judged:
    """A model that was fitted without an image, with the modes of the image."""

    model: FieldModel
    modes: Modes

    @property
    def loss(self) -> float:
        """Of the sampled pixels."""
        return held_out_loss(self.model, self.modes)

    @property
    def iou(self) -> float:
        """Of the first answer."""
        return float(self.modes.ious[0])


def _scores_alone(held_out: Sequence[_Judged], ious: Sequence[float]) -> list[_Judged]:
    """The same images judged by `SCORES_ALONE`, whose one mode has the probabilities of the scores and these IoUs."""
    single = [
        replace(
            one.modes,
            features=one.modes.features[:1],
            better=one.modes.better[:1],
            ious=np.array([iou]),
            follow=one.modes.follow[:1],
            comparison=Comparison(np.zeros((1, 1)), np.ones((1, 1))),
            marginals=one.modes.evidence[None],
        )
        for one, iou in zip(held_out, ious, strict=True)
    ]
    return [_Judged(SCORES_ALONE, modes) for modes in single]


def _mean_loss(held_out: Sequence[_Judged]) -> float:
    return float(np.mean([one.loss for one in held_out]))


def _table(held_out: Sequence[_Judged], alone: Sequence[_Judged]) -> tuple[Measure, ...]:
    """Against the scores alone."""
    both = (alone, held_out)
    return (
        measured("negative log-likelihood", *(np.array([one.loss for one in some]) for some in both)),
        measured(MEAN_IOU, *(np.array([one.iou for one in some]) for some in both)),
        *_calibration([one.model for one in held_out], [one.modes for one in held_out]),
    )


class _Steps:
    """Counts steps for a progress bar."""

    def __init__(self, progress: Callable[[int], None] | None) -> None:
        self._progress, self._done = progress, 0

    def done(self, result: Found, steps: int = 1) -> Found:
        """Count the steps that had this result."""
        self._done += steps
        if self._progress is not None:
            self._progress(self._done)
        return result


def _each(work: Callable[..., Found], images: Sequence[Example], solver: Solver, *arguments: Any) -> Iterator[Found]:
    """``work(image, *arguments, solver)`` for each image, several at once, without warnings."""
    alone = replace(solver, threads=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield from _threads.at_once(lambda image: work(image, *arguments, alone), images, solver.threads)


def example(
    image: ArrayLike, scores: ArrayLike, truth: ArrayLike, void: int, logits: bool, rng: np.random.Generator
) -> Example:
    picture = intensities(image)
    probs = probabilities(scores, picture.shape[:2], logits=logits)
    labels = _true_labels(truth, picture.shape[:2], probs.shape[-1], void)
    known = np.flatnonzero(labels != VOID)
    if len(known) == 0:
        raise MixfieldError("truths must hold pixels that count, got an image of nothing but void")
    pixels = rng.choice(known, min(PIXELS, len(known)), replace=False)
    return Example(picture, probs, labels, pixels)


def _true_labels(truth: ArrayLike, shape: tuple[int, ...], n_labels: int, void: int) -> NDArray[np.int64]:
    """(H, W) labels, `VOID` where they do not count."""
    labels = _arrays.as_numpy("truths", truth)
    _arrays.check_shape("truths", labels, shape, "= (height, width) of its image")
    if labels.dtype.kind not in "bui":
        raise MixfieldError(f"truths must hold labels as integers, got {labels.dtype}")
    wrong = (labels != void) & ((labels < 0) | (labels >= n_labels))
    if wrong.any():
        where = tuple(int(i) for i in np.argwhere(wrong)[0])
        raise MixfieldError(
            f"truths must hold labels 0..{n_labels - 1}, as the scores have, or void ({void}), "
            f"got {labels[where]} at pixel {where}"
        )
    return np.where(labels == void, VOID, labels).astype(np.int64)


def _examples(
    columns: tuple[Iterable[ArrayLike], ...],
    names: Sequence[str] | None,
    void: int,
    logits: bool,
    rng: np.random.Generator,
) -> list[Example]:
    """Checked examples, at least two, with the same labels."""
    found: list[Example] = []
    sources = [iter(source) for source in columns]
    for number, row in enumerate(zip_longest(*sources, fillvalue=END)):
        if any(entry is END for entry in row):
            rest = [sum(1 for _ in source) for source in sources]
            counts = [number + (entry is not END) + more for entry, more in zip(row, rest, strict=True)]
            raise MixfieldError("images, scores and truths must be as many, got {}, {} and {}".format(*counts))
        try:
            image, score, truth = row
            found.append(example(image, score, truth, void, logits, rng))
            _check_labels(found[0], found[-1])
        except MixfieldError as error:
            name = names[number] if names is not None and number < len(names) else f"image {number}"
            raise MixfieldError(f"{name}: {error}") from None
    if len(found) < 2:
        raise MixfieldError(f"images must hold at least two annotated images to leave one out, got {len(found)}")
    return found


def _check_labels(first: Example, last: Example) -> None:
    counts = [one.probs.shape[-1] for one in (first, last)]
    if counts[0] != counts[1]:
        raise MixfieldError("scores must have the same number of labels for all images, got {} and {}".format(*counts))


def _modes(image: Example, models: Mapping[Choice, FieldModel], solver: Solver) -> dict[Choice, Modes]:
    """The modes of an image in the fields of some models, which have the same field of `search`."""
    given, any_model = (image.probs, image.picture), next(iter(models.values()))
    options: dict[str, Any] = {"solver": solver, "progress": False}
    if any_model.search is None:
        found = {one: root_first(model.modes(*given, SEARCHED, **options)) for one, model in models.items()}
    else:
        stronger = any_model.stronger_modes(*given, SEARCHED, **options)
        found = {one: _changes(image, model, stronger, solver) for one, model in models.items()}
    return {one: summary(image, modes) for one, modes in found.items()}


def _changes(image: Example, model: FieldModel, stronger: MixturePosterior, solver: Solver) -> list[Mode]:
    """The modes of `FieldModel.alternatives`, whose bounds a fit does not need."""
    energy = model.energy(image.probs, image.picture)
    return disjoint_changes(stronger, energy, image.picture, image.probs, parts=model.parts, solver=solver).modes()


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
    return [calibration_measured(name, pairs) for name, pairs in rows if pairs]


def _most_probable(p: Floats, labels: NDArray[np.int64]) -> Floats:
    """(p, 2) probability of the most probable label, and whether it is right."""
    return np.stack([p.max(-1), p.argmax(-1) == labels[: len(p)]], -1)


def _hash(examples: Sequence[Example]) -> str:
    """A fingerprint of the data."""
    digest = hashlib.sha256()
    for image in examples:
        digest.update(np.ascontiguousarray(image.truth).tobytes())
        digest.update(np.ascontiguousarray(image.probs[::16, ::16]).tobytes())
    return digest.hexdigest()[:16]
