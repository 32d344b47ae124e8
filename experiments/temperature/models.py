"""The three dense CRFs of the appendix of the paper, and their entropy over temperature.

Model 1 couples pixels by their distance, model 2 by distance and colour, model 3 adds the unaries of a network.  The
unaries of models 1 and 2 are weak noise that breaks the symmetry of the labels.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.special import entr

from experiments.measurements import Row
from experiments.quiet import ignore_warnings
from experiments.temperature.photos import Photo
from mixfield.energy import Bilateral, DenseCRF, Gaussian
from mixfield.solvers import Solver, mean_field

Floats = NDArray[np.float64]

GAMMA = 10.0  # total weight of the kernel
SXY, SRGB = 10.0, 13.0  # standard deviations of the kernel in pixels and grey levels
NOISE = 0.01  # standard deviation of the unaries of models 1 and 2, nats
FLOOR = np.float32(1e-8)  # least probability of a label in model 3
HIGH_ENTROPY = 0.99  # bits; the entropy of a large uniform field passes it at 0.995 T_c
SOLVER = Solver(tolerance=1e-5, max_iterations=3000)
SHOWN = (1.0, 3.0, 4.0, 4.5, 5.0, 6.0)  # temperatures whose maps are drawn
MODELS = ("model 1", "model 2", "model 3")
CURVES = ("mean", "lowest_decile", "highest_decile")


def models(photo: Photo, *, rng: int = 0) -> dict[str, DenseCRF]:
    """The three models of a photo, by name."""
    noise = np.random.default_rng(rng).normal(0.0, NOISE, (*photo.foreground.shape, 2))
    probs = np.stack([1.0 - photo.foreground, photo.foreground], axis=-1).astype(np.float32)
    bilateral = Bilateral(photo.image, SXY, SRGB, GAMMA)
    fields = (
        DenseCRF(noise, [Gaussian(SXY, GAMMA)]),
        DenseCRF(noise, [bilateral]),
        DenseCRF(-np.log(np.maximum(probs, FLOOR)), [bilateral]),
    )
    return dict(zip(MODELS, fields, strict=True))


def entropy_curve(crf: DenseCRF, temperatures: Sequence[float]) -> Row:
    """Entropy of the marginals over temperature; each mean field starts from the one at the temperature before.

    Returns
    -------
    dict
        ``temperature``; ``mean``, ``lowest_decile`` and ``highest_decile`` over pixels, in bits; ``maps``, the
        probabilities of label 0 at the temperatures `SHOWN`; ``melts_at``, the `transition` of each of the curves.
    """
    curves: list[tuple[float, ...]] = []
    maps = {}
    q: Floats | None = None
    for temperature in temperatures:
        with ignore_warnings():
            mode = mean_field(crf, temperature=temperature, start=q, solver=SOLVER)
        q = np.asarray(mode.marginals, np.float64)
        curves.append(_mean_and_deciles(q))
        if temperature in SHOWN:
            maps[f"{temperature:g}"] = q[..., 0].round(4).tolist()
    bits = dict(zip(CURVES, np.array(curves).T, strict=True))
    return {
        "temperature": list(temperatures),
        **{name: values.tolist() for name, values in bits.items()},
        "maps": maps,
        "melts_at": {name: transition(np.array(temperatures), values) for name, values in bits.items()},
    }


def _mean_and_deciles(q: Floats) -> tuple[float, ...]:
    bits = entr(q).sum(-1) / np.log(2.0)
    low, high = np.percentile(bits, [10, 90])
    return float(bits.mean()), float(low), float(high)


def transition(temperatures: Floats, bits: Floats) -> float | None:
    """The last temperature at which entropy rises through `HIGH_ENTROPY`, interpolated; None if it ends below."""
    below = np.flatnonzero(bits < HIGH_ENTROPY)
    if len(below) == 0 or below[-1] + 1 == len(bits):
        return None
    k = int(below[-1])
    fraction = (HIGH_ENTROPY - bits[k]) / (bits[k + 1] - bits[k])
    return float(temperatures[k] + fraction * (temperatures[k + 1] - temperatures[k]))
