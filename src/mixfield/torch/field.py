"""One image of a batch as a dense field: its energy, its updates, and their derivatives.  Arrays only, no tensors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from mixfield.energy.coupling import Coupling, couple
from mixfield.energy.dense_crf import DenseCRF
from mixfield.energy.gaussian import Bilateral, Gaussian, Kernel
from mixfield.filters.normalization import Normalization
from mixfield.solvers.bandwidth_probes import EXACT_STEP, STEP, bandwidth_probes, couplings_of, differences
from mixfield.solvers.dense_gradients import NEGLIGIBLE, FieldGradient, implicit, unrolled
from mixfield.solvers.dense_run import Run, run_updates, run_updates_exactly

Array = NDArray[Any]
Floats = NDArray[np.float64]

Gradient = Literal["unrolled", "implicit"]

BLOCK = 4096  # pixels
EXACT_TOLERANCE = 1e-12  # of the derivative of a fixed point in double precision


@dataclass(frozen=True)
class Settings:
    """What all images of a layer share and what is not learned; see `mixfield.torch.DenseCRF`."""

    n_labels: int
    normalization: Normalization = "symmetric"
    updates: int = 10
    gradient: Gradient = "unrolled"
    exact: bool = False
    spacing: tuple[float, ...] | None = None

    @property
    def step(self) -> float:
        """Of the differences of bandwidths."""
        return EXACT_STEP if self.exact else STEP


@dataclass(frozen=True, eq=False)
class Parameters:
    """What is learned.

    Attributes
    ----------
    exponent : of the probabilities, ``U = -exponent logits``.
    weights : (2,) of the smoothness and the appearance kernel.
    bandwidths : (3,) ``smooth_sxy``, ``sxy`` and ``srgb``.
    compatibility : (L, L) costs of pairs of labels, or None for Potts.
    """

    exponent: float
    weights: Floats
    bandwidths: Floats
    compatibility: Floats | None


@dataclass(frozen=True, eq=False)
class ParameterGradient:
    """Derivatives of a loss with respect to the logits (L, *shape) and to `Parameters`."""

    logits: Array
    exponent: float
    weights: Floats
    bandwidths: Floats
    compatibility: Floats | None


class ImageField:
    """The field of one image.

    Parameters
    ----------
    settings, parameters : of the layer.
    logits : (L, *shape) float32 or float64; their memory is referred to.
    image : (channels, *shape), or None for the smoothness kernel alone.
    """

    def __init__(self, settings: Settings, parameters: Parameters, logits: Array, image: Array | None) -> None:
        self._settings, self._parameters = settings, parameters
        self.shape = logits.shape[1:]
        self.kernels = _kernels(settings, parameters, image, len(self.shape))
        self._logits = logits
        self.dtype = np.dtype(np.float64 if settings.exact else np.float32)

    def costs(self) -> Array:
        """(n, L) unary costs, a new array."""
        costs = np.empty((*self.shape, self._settings.n_labels), self.dtype)
        scale = self.dtype.type(-self._parameters.exponent)
        np.multiply(np.moveaxis(self._logits, 0, -1), scale, out=costs, casting="same_kind")
        return costs.reshape(-1, self._settings.n_labels)

    @property
    def tolerance(self) -> float:
        """Of the derivative of a fixed point."""
        return EXACT_TOLERANCE if self.dtype == np.float64 else NEGLIGIBLE

    def energy(self, **options: Any) -> DenseCRF:
        """The field as an energy, in single precision, with options of `mixfield.DenseCRF`."""
        return DenseCRF(self.costs().reshape(*self.shape, -1), self.kernels, **options)

    def run(self, *, keep: bool) -> Run:
        """The updates of the layer; ``keep`` what the derivative of all of them needs."""
        settings = self._settings
        if settings.exact:
            return run_updates_exactly(self.costs(), self.exact_couplings(), settings.updates, keep=keep)
        return run_updates(self.energy(negligible=0.0), settings.updates, keep=keep)

    def exact_couplings(self) -> list[Coupling]:
        """The kernels of all pairs."""
        given = self._settings.n_labels, self._parameters.compatibility is None
        return [couple(k, self.shape, given[0], potts=given[1], symmetric=True, exact=True) for k in self.kernels]

    def pull_back(self, run: Run, log_bar: Array, *, bandwidths: bool) -> FieldGradient:
        """Derivatives of a loss with derivative ``log_bar`` (L, *shape) with respect to the log-marginals.

        The series of a fixed point has at most as many terms as there were updates.
        """
        rows, probes = self.rows(log_bar), self.probes() if bandwidths else []
        if self._settings.gradient == "unrolled":
            return unrolled(run, rows, probes)
        terms = self._settings.updates
        return implicit(run, rows, probes, tolerance=self.tolerance, max_terms=terms, warn=False)

    def rows(self, planes: Array) -> Array:
        """(L, *shape) as (n, L) in the precision of the field: the same memory, if it has this precision."""
        if np.moveaxis(planes, 0, -1).flags.c_contiguous:
            rows = np.moveaxis(planes, 0, -1).reshape(-1, len(planes))
        else:
            rows = planes.reshape(len(planes), -1).T
        return rows.astype(self.dtype, copy=False)

    def gradient(self, field: FieldGradient) -> ParameterGradient:
        """Derivatives with respect to the parameters of the layer, from those of the field, whose memory is reused."""
        parameters, kernels = self._parameters, len(self.kernels)
        weights, bandwidths = np.zeros(2), np.zeros(3)
        weights[:kernels] = field.scales / parameters.weights[:kernels]
        if len(field.probe_scales):
            slopes = differences(field.probe_scales, self._settings.step)
            bandwidths[: len(slopes)] = slopes / parameters.bandwidths[: len(slopes)]
        exponent = -_inner(field.costs, self.rows(self._logits))  # U = -exponent logits
        logits = np.multiply(field.costs, -parameters.exponent, out=field.costs, casting="same_kind")
        return ParameterGradient(
            np.moveaxis(logits.reshape(*self.shape, -1), -1, 0),
            exponent,
            weights,
            bandwidths,
            _symmetric(field.compatibilities, parameters.weights),
        )

    def probes(self) -> list[Coupling]:
        """Kernels of other bandwidths, for finite differences."""
        settings = self._settings
        potts = self._parameters.compatibility is None
        return couplings_of(
            bandwidth_probes(
                self.kernels, self.shape, settings.n_labels, potts=potts, exact=settings.exact, step=settings.step
            )
        )


def _kernels(settings: Settings, parameters: Parameters, image: Array | None, axes: int) -> list[Kernel]:
    (smooth, weight), (smooth_sxy, sxy, srgb) = parameters.weights.tolist(), parameters.bandwidths.tolist()
    spacing = settings.spacing or (1.0,) * axes
    costs, way = parameters.compatibility, settings.normalization
    kernels: list[Kernel] = [Gaussian([smooth_sxy / step for step in spacing], smooth, costs, way)]
    if image is not None:
        last = np.moveaxis(image, 0, -1)
        kernels.append(Bilateral(last, [sxy / step for step in spacing], srgb, weight, costs, way))
    return kernels


def _inner(one: Array, other: Array) -> float:
    """``sum_il a_il b_il`` of (n, L) arrays of any layout, in blocks of pixels that fit the cache."""
    blocks = (slice(first, first + BLOCK) for first in range(0, len(one), BLOCK))
    return sum(float(np.einsum("nl,nl->n", one[block], other[block]).sum(dtype=np.float64)) for block in blocks)


def _symmetric(pairs: Sequence[Floats | None], weights: Floats) -> Floats | None:
    """The derivative of ``weight (C + C^T) / 2`` of all kernels."""
    given = [weight * (one + one.T) / 2 for one, weight in zip(pairs, weights, strict=False) if one is not None]
    return np.sum(given, axis=0) if given else None
