"""Methods that return several segmentations of an image."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter

from experiments.segmentation.counted_crf import CountedCRF
from mixfield._pictures import resize_bilinear
from mixfield.baselines.diverse import diverse_modes
from mixfield.constraints import FirmClamp
from mixfield.criteria import DensestWindow, EntropyGap, PhaseTransition
from mixfield.mixture import MixturePosterior, breadth_first, infer
from mixfield.solvers import Mode, Solver, mean_field

if TYPE_CHECKING:
    from mixfield.mixture.node import Node

Labelings = list[NDArray[np.int64]]

STRENGTHS = (0.3, 0.5, 1.0)  # of DivMBest
NOISES = (1.0, 2.0)  # standard deviation of the noise that is added to the costs
SOLVER = Solver(tolerance=1e-2, max_iterations=100)  # about 20 filterings, since most updates are of few pixels
FIRM = FirmClamp(release=False, steps=2, patience=2)  # four updates for each mode, which stays clamped
WINDOW = 51  # pixels, the window of the paper


@dataclass(frozen=True, eq=False)
class Segmentations:
    """What a method returns.

    Attributes
    ----------
    labelings : of mean field first, then of the others in the order found.
    calls : filterings until each of them was found.
    posterior : of methods that have one.
    """

    labelings: Labelings
    calls: list[float]
    posterior: MixturePosterior | None = None


Method = Callable[[CountedCRF, int], Segmentations]


def methods(step: int = 1) -> dict[str, Method]:
    """All methods by name; each takes a field and the number of segmentations.

    The window of the paper is divided by ``step``, as the image is.
    """
    window = PhaseTransition(pick=DensestWindow(WINDOW // step))
    return {
        "ours": _mixture(),
        "ours, firm": _mixture(clamp=FIRM),
        "single pixels": _mixture(criterion=PhaseTransition(pick=EntropyGap()), order=breadth_first),
        "restarts": _one_by_one(_restarts),
        **{f"DivMBest {strength:g}": _one_by_one(partial(_diverse, strength=strength)) for strength in STRENGTHS},
        **{f"noise {amount:g}": _one_by_one(partial(_noisy, amount=amount)) for amount in NOISES},
        "paper": _mixture(criterion=window, order=breadth_first),
    }


def _mixture(**options: Any) -> Method:
    """The modes of `infer`: mean field at the root first, then the others in the order found."""

    def method(crf: CountedCRF, count: int) -> Segmentations:
        calls = [0.0] * count

        def record(found: int) -> None:
            calls[found - 1 :] = [crf.calls] * (count - found + 1)

        posterior = infer(crf, count, progress=record, **options)
        record(len(posterior.modes))
        labelings, root = posterior.labelings(), posterior.root_mode
        ordered = [labelings[root], *(labelings[k] for k in order_found(posterior.tree) if k != root)]
        return Segmentations(ordered, calls[: len(ordered)], posterior)

    return method


def order_found(tree: Sequence[Node]) -> list[int]:
    """The modes of the leaves in the order in which they were found; a child may inherit the mode of its parent."""

    def origin(k: int) -> int:
        parent = tree[k].parent
        return origin(parent) if parent >= 0 and tree[parent].log_z == tree[k].log_z else k

    leaves = [k for k, node in enumerate(tree) if node.mode >= 0]
    return [tree[k].mode for k in sorted(leaves, key=origin)]


def _one_by_one(source: Callable[[CountedCRF], Iterator[Mode]]) -> Method:
    """The first modes of an infinite iterator."""

    def method(crf: CountedCRF, count: int) -> Segmentations:
        found = [(mode.labeling(), crf.calls) for mode in islice(source(crf), count)]
        return Segmentations([labeling for labeling, _ in found], [calls for _, calls in found])

    return method


def _restarts(crf: CountedCRF) -> Iterator[Mode]:
    """Mean field, then mean fields from random starts."""
    rng = np.random.default_rng(0)
    yield mean_field(crf, solver=SOLVER)
    while True:
        yield mean_field(crf, start=rng.dirichlet(np.ones(crf.n_labels), crf.shape), solver=SOLVER)


def _diverse(crf: CountedCRF, *, strength: float) -> Iterator[Mode]:
    return diverse_modes(crf, strength=strength, solver=SOLVER)


def _noisy(crf: CountedCRF, *, amount: float) -> Iterator[Mode]:
    """Mean field, then mean fields of costs with smooth noise."""
    rng = np.random.default_rng(0)
    yield mean_field(crf, solver=SOLVER)
    while True:
        noise = smooth_noise(rng, crf.shape, crf.n_labels, max(crf.shape) / 16)
        noise *= amount / noise.std()
        noisy = CountedCRF.of_energy(crf, noise.reshape(crf.costs.shape).astype(np.float32))
        mode = mean_field(noisy, solver=SOLVER)
        crf.meter.calls += noisy.calls
        yield mode


def smooth_noise(rng: np.random.Generator, shape: Sequence[int], n_labels: int, sigma: float) -> NDArray[Any]:
    """(H, W, L) Gaussian noise, smoothed with ``sigma`` pixels; computed on a coarse grid where sigma is large."""
    height, width = shape
    every = max(1, int(sigma / 8))
    noise = rng.standard_normal((-(-height // every), -(-width // every), n_labels))
    smooth: NDArray[Any] = gaussian_filter(noise, (sigma / every, sigma / every, 0))
    return resize_bilinear(smooth, (height, width))
