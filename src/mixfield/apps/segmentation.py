"""Segment an image: several weighted segmentations from network scores, where a dense CRF returns one."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mixfield import _arrays
from mixfield._pictures import intensities
from mixfield._progress import Progress
from mixfield.apps.blockwise import LARGEST_WHOLE, segment_blockwise
from mixfield.apps.evidence import CERTAINTY, UNKNOWN, probabilities
from mixfield.apps.field_model import FieldModel, given_or_default
from mixfield.apps.kernels import Kernels
from mixfield.apps.strokes import is_strokes, segment_strokes
from mixfield.energy.base import Energy
from mixfield.energy.dense_crf import DenseCRF
from mixfield.errors import MixfieldWarning
from mixfield.mixture.posterior import MixturePosterior
from mixfield.mixture.tree import infer
from mixfield.solvers.dispatch import critical_temperature
from mixfield.solvers.free_energy import entropies
from mixfield.solvers.mean_field import mean_field, warn_if_doubtful
from mixfield.solvers.mode import Mode
from mixfield.solvers.options import Solver

Float32s = NDArray[np.float32]

ONE_HOT = (
    "the weights are one-hot: they are those of the energy, which counts every pixel as independent evidence; "
    "a fitted model of the field calibrates them"
)


@dataclass(frozen=True, eq=False)
class Evidence:
    """What a field with a model was made from.

    Attributes
    ----------
    model : by which the energy was made and its modes get probabilities.
    probs, image : (H, W, L) probabilities and (H, W, channels) intensities.
    """

    model: FieldModel
    probs: Float32s
    image: Float32s


@dataclass(frozen=True, eq=False)
class SegmentationField:
    """The field whose modes are segmentations of an image.

    Attributes
    ----------
    energy : over the pixels (H, W) of an image.
    evidence : by which a model of the field gives probabilities to the modes; None for those of the energy itself.
    """

    energy: DenseCRF
    evidence: Evidence | None = None


def segmentation_energy(
    image: ArrayLike,
    scores: ArrayLike,
    *,
    kernels: Kernels | None = None,
    logits: bool = False,
    certainty: float | None = None,
    unknown: Sequence[int] = UNKNOWN,
    n_labels: int | None = None,
) -> DenseCRF:
    """The dense CRF that `segment` solves with kernels, by default those of DeepLab; the parameters are those of
    `segment`."""
    probs, picture = _evidence(image, scores, logits=logits, certainty=certainty, unknown=unknown, n_labels=n_labels)
    chosen = given_or_default(None, Kernels.deeplab() if kernels is None else kernels)
    return DenseCRF.from_probabilities(probs, picture, **asdict(chosen))


def _evidence(
    image: ArrayLike, scores: ArrayLike, *, certainty: float | None, **options: Any
) -> tuple[Float32s, Float32s]:
    """(H, W, L) probabilities and (H, W, channels) intensities; the parameters are those of `segment`."""
    picture = intensities(image)
    sure = CERTAINTY if certainty is None else certainty
    return probabilities(scores, picture.shape[:2], certainty=sure, **options), picture


def segmentation_field(
    image: ArrayLike,
    scores: ArrayLike,
    *,
    model: FieldModel | None = None,
    kernels: Kernels | None = None,
    logits: bool = False,
    certainty: float | None = None,
    unknown: Sequence[int] = UNKNOWN,
    n_labels: int | None = None,
) -> SegmentationField:
    """The dense CRF that `segment` solves, with or without a model; not that of strokes, see `segment_strokes`."""
    probs, picture = _evidence(image, scores, logits=logits, certainty=certainty, unknown=unknown, n_labels=n_labels)
    return _field(probs, picture, model, kernels)


def _field(probs: Float32s, picture: Float32s, model: FieldModel | None, kernels: Kernels | None) -> SegmentationField:
    chosen = given_or_default(model, kernels)
    if isinstance(chosen, Kernels):
        return SegmentationField(DenseCRF.from_probabilities(probs, picture, **asdict(chosen)))
    return SegmentationField(chosen.energy(probs, picture), Evidence(chosen, probs, picture))


def solve_field(
    field: SegmentationField,
    n_modes: int,
    *,
    rng: int | np.random.Generator = 0,
    solver: Solver | None = None,
    progress: Progress = None,
) -> MixturePosterior:
    """The modes of a field, calibrated if it has a model; the parameters are those of `segment`."""
    if field.evidence is None:
        posterior = infer(field.energy, n_modes, rng=rng, solver=solver, progress=progress)
        return replace(posterior, notes=(*posterior.notes, ONE_HOT)) if posterior.is_one_hot else posterior
    given = field.evidence
    model, probs, picture = given.model, given.probs, given.image
    with warnings.catch_warnings():
        # n_modes is a maximum, fewer need no note, nor do modes that are not offered
        warnings.simplefilter("ignore", MixfieldWarning)
        posterior = model.modes(probs, picture, n_modes, energy=field.energy, rng=rng, solver=solver, progress=progress)
    offered = model.calibrate(replace(posterior, notes=()), probs, picture, n_modes)
    warn_if_doubtful(offered.modes)
    return offered


def segment(
    image: ArrayLike,
    scores: ArrayLike,
    n_modes: int = 4,
    *,
    model: FieldModel | None = None,
    kernels: Kernels | None = None,
    logits: bool = False,
    certainty: float | None = None,
    unknown: Sequence[int] = UNKNOWN,
    n_labels: int | None = None,
    rng: int | np.random.Generator = 0,
    solver: Solver | None = None,
    progress: Progress = None,
) -> MixturePosterior:
    """Several weighted segmentations of an image.

    Parameters
    ----------
    image : (H, W) or (H, W, channels).  The dtype determines the range: 0 to 255 for ``uint8`` and other integers, 0 to
        65535 for ``uint16``, 0 to 1 for floats, or ``bool``.  The fourth of four channels is alpha and dropped.
    scores : (H, W, L) probabilities, which may be zero and are divided by their sums; or (H, W) floats, the probability
        of label 1 against 0; or (H, W) integers, a label map or strokes, with values of ``unknown`` elsewhere.  Another
        resolution with the same aspect ratio is resized; (L, H, W) is accepted if (H, W, L) does not fit the image.
    n_modes : largest number of segmentations.  Alternatives that are improbable or nearly the same as another one are
        left out; if none is left, ``notes`` and ``calibration.without_doubt`` say that there is no doubt.  The search
        is the same for 2 to 8, so that the first alternatives are too; 1 is the mean field alone, without a search.
    model : of the field, fitted by `mixfield.fit`; ``FieldModel.default()`` by default.
    kernels : of a dense CRF without a model, such as ``Kernels.deeplab()``: the weights are those of the paper, nearly
        one-hot on photographs, and fewer modes than ``n_modes`` come with a `FewerModesWarning`.  Without model and
        kernels, strokes (a label map in which most pixels are unknown) are segmented by superpixels, which need
        scikit-image, see `mixfield.apps.strokes`.
    logits : the scores are logits or log-probabilities.
    certainty : probability of the label that a label map gives, 0.9 by default; strokes without kernels are certain.
    unknown : values of a label map that mean an unknown label.
    n_labels : number of labels of a label map; by default its largest label plus one.
    rng, solver, progress : as for `infer`.

    Returns
    -------
    MixturePosterior
        Over (H, W): ``labelings()``, ``weights``, ``marginals()``.  With a model the weights are calibrated, mean field
        comes first, then the alternatives by expected usefulness, and `mixfield.apps.questions` says what each one
        asks; without, the heaviest mode comes first.

    Notes
    -----
    One mode with more than 134 million marginals (H W L) is solved in blocks with halos, as by `segment_large`, for a
    quarter of the memory.  Its labels are those of the whole field at 99.99 % of the pixels;
    ``log_z`` approximates the bound to about 1e-4, and a note says so.

    Examples
    --------
    >>> import numpy as np, mixfield as mf
    >>> image = np.zeros((12, 16), np.uint8)
    >>> image[:, 8:] = 200
    >>> strokes = np.full((12, 16), -1)
    >>> strokes[6, 1:6], strokes[6, 10:15] = 0, 1
    >>> mf.segment(image, strokes, n_modes=1).labelings()[0, 0]
    array([0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1])
    """
    if model is None and kernels is None and not logits and is_strokes(scores, unknown):
        return segment_strokes(
            image, scores, n_modes, unknown=unknown, n_labels=n_labels, rng=rng, solver=solver, progress=progress
        )
    probs, picture = _evidence(image, scores, logits=logits, certainty=certainty, unknown=unknown, n_labels=n_labels)
    if n_modes == 1 and probs.size > LARGEST_WHOLE:
        return segment_blockwise(probs, picture, given_or_default(model, kernels), solver=solver, progress=progress)
    field = _field(probs, picture, model, kernels)
    del probs, picture  # copies, if the scores are not in single precision
    return solve_field(field, n_modes, rng=rng, solver=solver, progress=progress)


def entropy_gap(
    energy: Energy, mode: Mode, *, temperature: float | None = None, solver: Solver | None = None
) -> NDArray[np.float64]:
    """Entropy of each pixel at a higher temperature minus its entropy in a mode (section 4.2 of the paper).

    The temperature is Gamma / 3 by default, at which whole objects lose their label.  Negative differences become zero.

    Returns
    -------
    (*shape) array of bits, from 0 to log2 L.
    """
    _arrays.check_shape("mode.marginals", mode.marginals, (*energy.shape, energy.n_labels), "of the energy")
    high = max(1.0, 2 / 3 * critical_temperature(energy)) if temperature is None else temperature
    hot = mean_field(energy, temperature=high, solver=solver)
    nats = entropies(hot.marginals.astype(np.float64)) - entropies(mode.marginals.astype(np.float64))
    return np.asarray(np.maximum(nats / np.log(2), 0.0))
