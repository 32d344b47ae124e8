"""Where the second mode of a dense CRF with a constant unary disappears, predicted and measured."""

from __future__ import annotations

import numpy as np

from experiments.measurements import Row
from experiments.quiet import ignore_warnings
from experiments.temperature import fixed_point
from experiments.temperature.bisection import last_true
from experiments.temperature.models import GAMMA, SOLVER
from mixfield.energy import DenseCRF, Gaussian
from mixfield.solvers import mean_field

UNARIES = (0.0, 0.5, 1.0, 2.0, 4.0)


def measure(unary: float, *, size: int = 24, accuracy: float = 0.01) -> Row:
    """The temperature at which the mode against the unary disappears: by the fixed point, as printed, by bisection."""
    costs = np.zeros((size, size, 2))
    costs[..., 0] = unary
    # normalised after filtering: pixels at the border have the same sum of weights as the others
    crf = DenseCRF(costs, [Gaussian(4.0, GAMMA, normalization="after")])
    measured = last_true(lambda temperature: _has_second_mode(crf, temperature), GAMMA / 2 * 1.2, accuracy)
    return {
        "unary": unary,
        "predicted": fixed_point.splitting_temperature(GAMMA, unary),
        "predicted_as_printed": fixed_point.splitting_temperature(GAMMA, 2 * unary),
        "measured": measured,
    }


def _has_second_mode(crf: DenseCRF, temperature: float) -> bool:
    """Whether mean field that starts at label 0, against the unary, stays there."""
    start = np.broadcast_to([1.0 - 1e-6, 1e-6], (*crf.shape, 2))
    with ignore_warnings():
        mode = mean_field(crf, temperature=temperature, start=start, solver=SOLVER)
    return float(mode.marginals[..., 0].mean()) > 0.5 + 0.02
