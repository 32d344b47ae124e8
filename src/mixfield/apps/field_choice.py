"""Choose the field behind network scores by the likelihood of annotated pixels.

Settings are compared on reduced images: means of blocks of pixels, with bandwidths that shrink as the images do.  The
couplings of a dense CRF reach over tens of pixels, so that the order of the settings is nearly that of full images, at
a fraction of the time.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import product

import numpy as np
from numpy.typing import NDArray

from mixfield.apps.field_model import FieldModel
from mixfield.apps.kernels import Kernels
from mixfield.apps.mode_calibration import NEUTRAL, Example, log_loss
from mixfield.mixture.calibration import Blend, label_frequencies
from mixfield.solvers.mean_field import mean_field
from mixfield.solvers.mode import Mode
from mixfield.solvers.options import Solver

Floats = NDArray[np.float64]
Setting = tuple[float, Kernels]  # an exponent of the scores, and kernels

SETTINGS = tuple(
    (exponent, Kernels(smooth_weight=smooth, sxy=sxy, srgb=srgb, weight=weight))
    for exponent, (smooth, sxy, srgb, weight) in product(
        (0.7, 0.6, 0.8, 1.0),
        ((1.0, 67.0, 3.0, 1.4), (1.0, 40.0, 8.0, 1.5), (0.5, 40.0, 8.0, 2.5), (3.0, 67.0, 3.0, 4.0)),
    )
)
BLENDS = tuple(Blend(*pair) for pair in ((0.1, 0.8), (0.2, 0.7), (0.4, 0.5), (0.0, 1.0)))  # tried with each setting
BALANCES = (0.1, 0.0)  # to choose from by mean IoU
LARGEST = 25_000  # pixels of a reduced image


def reduced(image: Example) -> Example:
    """The image with at most `LARGEST` pixels."""
    return image.reduced(math.ceil(math.sqrt(image.truth.size / LARGEST)))


def model_of(setting: Setting) -> FieldModel:
    """A model without calibration."""
    return FieldModel(*setting, NEUTRAL, NEUTRAL, Blend(1.0, 0.0))


def field_losses(image: Example, settings: Sequence[Setting], solver: Solver | None = None) -> list[float]:
    """The loss of each mean field, blended with the scores as well as possible."""
    evidence, frequencies = image.sampled(image.probs), label_frequencies(image.probs)

    def loss(setting: Setting) -> float:
        marginals = image.sampled(_mean_field(image, setting, 0.0, solver).marginals)
        return min(log_loss(blend.of(marginals, evidence, frequencies), image.labels) for blend in BLENDS)

    return [loss(setting) for setting in settings]


def balance_ious(image: Example, setting: Setting, solver: Solver | None = None) -> Floats:
    """Mean IoU of the mean field with each of `BALANCES`."""
    fields = [_mean_field(image, setting, balance, solver) for balance in BALANCES]
    return np.array([image.iou(field.labeling()) for field in fields])


def _mean_field(image: Example, setting: Setting, balance: float, solver: Solver | None) -> Mode:
    exponent, kernels = setting
    model = replace(model_of((exponent, kernels.reduced(image.step))), balance=balance)
    return mean_field(model.energy(image.probs, image.picture), solver=solver)
