"""Training of a network with one hidden layer by stochastic gradients (AdamW of Loshchilov and Hutter, ICLR 2019)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from mixfield.interactive.local_model import LocalModel

Floats = NDArray[np.float64]

HIDDEN = 32  # units
STEPS, BATCH = 2500, 4096
RATE, DECAY = 0.01, 0.5  # of the steps, and of the weights
MOMENTA, SMALL = (0.9, 0.999), 1e-8


def train(features: Floats, wrong: Floats, weights: Floats, rng: np.random.Generator) -> LocalModel:
    """Minimise the weighted logistic loss of pixels.

    Parameters
    ----------
    features : (n, F) of the pixels.
    wrong : (n,) 1 for those that belong to the error, 0 for the others.
    weights : (n,) of the pixels.
    rng : of the start and of the batches.
    """
    means, scales = features.mean(0), features.std(0) + 1e-6
    standard = (features - means) / scales
    shapes = (features.shape[1], HIDDEN), (HIDDEN,), (HIDDEN,), ()
    fan_in = (features.shape[1], features.shape[1], HIDDEN, HIDDEN)
    model = [rng.uniform(-1, 1, shape) / np.sqrt(n) for shape, n in zip(shapes, fan_in, strict=True)]
    moments = [(np.zeros(shape), np.zeros(shape)) for shape in shapes]
    for step in range(STEPS):
        batch = rng.integers(len(standard), size=BATCH)
        slopes = _slopes(model, standard[batch], wrong[batch], weights[batch] / BATCH)
        rate = RATE * 0.5 * (1 + np.cos(np.pi * step / STEPS))
        for k, (slope, (mean, square)) in enumerate(zip(slopes, moments, strict=True)):
            moments[k] = mean, square = (
                MOMENTA[0] * mean + (1 - MOMENTA[0]) * slope,
                MOMENTA[1] * square + (1 - MOMENTA[1]) * slope**2,
            )
            direction = mean / (1 - MOMENTA[0] ** (step + 1))
            direction = direction / (np.sqrt(square / (1 - MOMENTA[1] ** (step + 1))) + SMALL)
            model[k] = (1 - rate * DECAY) * model[k] - rate * direction
    inner, inner_bias, output, output_bias = model
    inner = inner / scales[:, None]
    found = inner, inner_bias - means @ inner, output, output_bias
    return LocalModel(*(np.asarray(one, np.float32) for one in found))


def _slopes(model: list[Floats], features: Floats, wrong: Floats, weights: Floats) -> tuple[Floats, ...]:
    """Gradient of the weighted logistic loss."""
    inner, inner_bias, output, output_bias = model
    hidden = np.tanh(features @ inner + inner_bias)
    error = weights * (expit(hidden @ output + output_bias) - wrong)
    back = error[:, None] * output * (1 - hidden**2)
    return features.T @ back, back.sum(0), hidden.T @ error, error.sum()
