"""Phase transitions of dense Gaussian CRFs (appendix of the paper): entropy over temperature in three models.

Model 1 couples pixels by their distance alone, model 2 by distance and colour, model 3 adds the unaries of a network.
The first two have no evidence but a little noise that breaks the tie.  The mode found at the lowest temperature is
followed upwards, each temperature starting from the one below, until it melts.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments import fixed_point, splitting
from experiments.measured import Row
from experiments.photos import Photo
from experiments.synthetic import families
from mixfield.energy.dense_crf import DenseCRF
from mixfield.energy.gaussian import Bilateral, Gaussian
from mixfield.energy.unary import log_costs
from mixfield.errors import MixfieldWarning
from mixfield.solvers.free_energy import entropies
from mixfield.solvers.mean_field import Solver, mean_field

Floats = NDArray[np.float64]

GAMMA = 10.0
SXY, SRGB = 10.0, 13.0
NOISE = 0.01  # nats
MELTED = 0.99  # bits: in a large uniform field reached at 0.995 T_c
SOLVER = Solver(tolerance=1e-5, max_iterations=3000)
SHOWN = (1.0, 3.0, 4.0, 4.5, 5.0, 6.0)  # temperatures whose maps are drawn
MODELS = ("model 1", "model 2", "model 3")
UNARIES = (0.0, 0.5, 1.0, 2.0, 4.0)


def temperatures(*, quick: bool) -> list[float]:
    """From 1 to 8, finer where the transition is expected."""
    coarse, fine = np.arange(1.0, 8.1, 1.0 if quick else 0.5), np.arange(4.5, 5.51, 0.1 if quick else 0.05)
    return np.unique(np.concatenate([coarse, fine, SHOWN]).round(3)).tolist()


def models(photo: Photo, *, rng: int = 0) -> dict[str, DenseCRF]:
    """The three models on one photo."""
    shape = photo.foreground.shape
    noise = np.random.default_rng(rng).normal(0.0, NOISE, (*shape, 2))
    colours = Bilateral(photo.image, SXY, SRGB, GAMMA)
    scores = np.stack([1.0 - photo.foreground, photo.foreground], axis=-1)
    fields = (
        DenseCRF(noise, [Gaussian(SXY, GAMMA)]),
        DenseCRF(noise, [colours]),
        DenseCRF(log_costs(scores, 1e-8), [colours]),
    )
    return dict(zip(MODELS, fields, strict=True))


def tasks(photo: Photo, *, quick: bool) -> dict[str, tuple[Any, ...]]:
    """Name and values of every measurement: the models on a photo, fields with unaries, and random graphs."""
    ladder = temperatures(quick=quick)
    instances, sizes = (1, (7,)) if quick else (10, (13, 7))
    size = "x".join(map(str, photo.foreground.shape))
    return (
        {f"{name} {photo.name} {size}": ("model", photo, name, ladder) for name in MODELS}
        | {f"unary {unary:g}": ("unary", unary) for unary in UNARIES}
        | {f"{kind.name} {instances}": ("graph", kind, instances) for kind in families(("mmmf",), sizes)}
    )


def measure(what: str, *values: Any) -> Row:
    """One of the `tasks`."""
    ways: dict[str, Callable[..., Row]] = {"model": on_photo, "unary": with_unaries, "graph": splitting.measure}
    return {"what": what, **ways[what](*values)}


def on_photo(photo: Photo, name: str, ladder: Sequence[float]) -> Row:
    """`heat` of one of the models."""
    return {"name": name, **heat(models(photo)[name], ladder)}


def heat(crf: DenseCRF, ladder: Sequence[float]) -> Row:
    """Entropies in bits at each temperature (mean, lowest and highest decile), and the maps of label 0."""
    rows, maps = [], {}
    q: Floats | None = None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MixfieldWarning)
        for temperature in ladder:
            mode = mean_field(crf, temperature=temperature, start=q, solver=SOLVER)
            q = np.asarray(mode.marginals, np.float64)
            bits = entropies(q) / np.log(2.0)
            low, high = np.percentile(bits, [10, 90])
            rows.append((temperature, bits.mean(), low, high))
            if temperature in SHOWN:
                maps[f"{temperature:g}"] = q[..., 0].round(4).tolist()
    path = np.array(rows).T
    named = dict(zip(("temperature", "mean", "lowest_decile", "highest_decile"), path.tolist(), strict=True))
    return named | {"maps": maps, "melts_at": {key: melting(path[0], path[k]) for k, key in _CURVES}}


_CURVES = ((1, "mean"), (2, "lowest_decile"), (3, "highest_decile"))


def melting(temperature: Floats, bits: Floats) -> float | None:
    """Where entropy rises through `MELTED` for the last time, between two temperatures; None if it ends below."""
    below = np.flatnonzero(bits < MELTED)
    if len(below) == 0 or below[-1] + 1 == len(bits):
        return None
    k = int(below[-1])
    part = (MELTED - bits[k]) / (bits[k + 1] - bits[k])
    return float(temperature[k] + part * (temperature[k + 1] - temperature[k]))


def with_unaries(unary: float, *, size: int = 24, accuracy: float = 0.01) -> dict[str, float]:
    """Where the mode against a constant unary vanishes, predicted and by bisection on a real field."""
    costs = np.zeros((size, size, 2))
    costs[..., 0] = unary
    crf = DenseCRF(costs, [Gaussian(4.0, GAMMA, normalization="after")])  # no pixel at the border hears less
    against = np.broadcast_to([1.0 - 1e-6, 1e-6], costs.shape)
    low, high = 0.0, GAMMA / 2 * 1.2
    while high - low > accuracy:
        middle = (low + high) / 2
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", MixfieldWarning)
            mode = mean_field(crf, temperature=middle, start=against, solver=SOLVER)
        survives = float(mode.marginals[..., 0].mean()) > 0.5 + 0.02
        low, high = (middle, high) if survives else (low, middle)
    return {
        "unary": unary,
        "predicted": fixed_point.splitting_temperature(GAMMA, unary),
        "predicted_as_printed": fixed_point.splitting_temperature(GAMMA, 2 * unary),
        "measured": (low + high) / 2,
    }
