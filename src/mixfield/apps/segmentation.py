"""Segment an image: several weighted segmentations from network scores, where a dense CRF returns one."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import asdict

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mixfield import _arrays
from mixfield._progress import Progress
from mixfield.apps.evidence import CERTAINTY, UNKNOWN, probabilities
from mixfield.apps.field_model import FieldModel
from mixfield.apps.kernels import Kernels
from mixfield.apps.pictures import intensities
from mixfield.apps.strokes import is_strokes, segment_strokes
from mixfield.apps.superpixels import SegmentationField
from mixfield.energy.base import Energy
from mixfield.energy.dense_crf import DenseCRF
from mixfield.errors import FewerModesWarning, MixfieldError
from mixfield.mixture.posterior import MixturePosterior
from mixfield.mixture.tree import infer
from mixfield.solvers.dispatch import critical_temperature
from mixfield.solvers.free_energy import entropies
from mixfield.solvers.mean_field import mean_field
from mixfield.solvers.mode import Mode
from mixfield.solvers.options import Solver


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
    """The dense CRF that `segment` solves, of strokes if kernels are given; the parameters are those of `segment`."""
    picture = intensities(image)
    height, width = picture.shape[:2]
    sure = CERTAINTY if certainty is None else certainty
    probs = probabilities(scores, (height, width), logits=logits, certainty=sure, unknown=unknown, n_labels=n_labels)
    return DenseCRF.from_probabilities(probs, picture, **asdict(kernels or Kernels()))


def segmentation_field(
    image: ArrayLike,
    scores: ArrayLike,
    *,
    kernels: Kernels | None = None,
    logits: bool = False,
    certainty: float | None = None,
    unknown: Sequence[int] = UNKNOWN,
    n_labels: int | None = None,
) -> SegmentationField:
    """The field that `segment` solves for everything but strokes: a dense CRF."""
    crf = segmentation_energy(
        image,
        scores,
        kernels=kernels,
        logits=logits,
        certainty=certainty,
        unknown=unknown,
        n_labels=n_labels,
    )
    return SegmentationField(crf)


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
    scores : (H, W, L) probabilities, which need not sum to one and may be zero; or (H, W) floats, the probability of
        label 1 against 0; or (H, W) integers, a label map or strokes, with values of ``unknown`` elsewhere.  Another
        resolution with the same aspect ratio is resized; (L, H, W) is accepted if (H, W, L) does not fit the image.
    n_modes : number of segmentations; fewer are returned, with a `FewerModesWarning`, if there are no more.  With a
        model it is a maximum: alternatives that are improbable or nearly the same as another one are left out, which
        ``notes`` says.
    model : of the field, fitted by `mixfield.fit`, or ``FieldModel.default()``: the weights are calibrated, and mean
        field comes first, then the alternatives by expected usefulness.
    kernels : of the dense CRF if there is no model; the weights are those of the paper, nearly one-hot on photographs.
        Without both, strokes (a label map in which most pixels are unknown) are segmented by regions, which need
        scikit-image, see `mixfield.apps.strokes`.
    logits : the scores are logits or log-probabilities.
    certainty : probability of the label that a label map gives, 0.9 by default; strokes without kernels are certain.
    unknown : values of a label map that mean an unknown label.
    n_labels : number of labels of a label map; by default its largest label plus one.
    rng, solver, progress : as for `infer`.

    Returns
    -------
    MixturePosterior
        Over (H, W), heaviest mode first: ``labelings()``, ``weights``, ``marginals()``.

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
    if model is not None:
        if kernels is not None:
            raise MixfieldError("give a model or kernels, not both: a model has kernels of its own")
        picture = intensities(image)
        probs = probabilities(scores, picture.shape[:2], logits=logits, unknown=unknown, n_labels=n_labels)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FewerModesWarning)  # n_modes is a maximum; the notes say what was found
            posterior = model.modes(probs, picture, n_modes, rng=rng, solver=solver, progress=progress)
        return model.calibrate(posterior, probs)
    if kernels is None and not logits and is_strokes(scores, unknown):
        return segment_strokes(
            image, scores, n_modes, unknown=unknown, n_labels=n_labels, rng=rng, solver=solver, progress=progress
        )
    field = segmentation_field(
        image,
        scores,
        kernels=kernels,
        logits=logits,
        certainty=certainty,
        unknown=unknown,
        n_labels=n_labels,
    )
    return field.over_pixels(infer(field.energy, n_modes, rng=rng, solver=solver, progress=progress))


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
