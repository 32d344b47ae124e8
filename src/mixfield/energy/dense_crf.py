"""Dense Gaussian CRFs: every pixel coupled to every other by Gaussian kernels (Krähenbühl and Koltun, 2011)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mixfield import _arrays, _threads, kernels
from mixfield.energy.coupling import Coupling, couple
from mixfield.energy.gaussian import Bilateral, Gaussian, Kernel
from mixfield.energy.unary import FORBIDDEN, LARGE, bounded, log_costs
from mixfield.errors import InfeasibleError, MixfieldError

Floats = NDArray[np.float64]
Float32s = NDArray[np.float32]


class DenseCRF:
    """An energy with a cost per pixel and label, and Gaussian kernels between all pairs of pixels.

    ``E(x) = sum_i unary_i(x_i) + 1/2 sum_ij sum_m weight_m compatibility_m(x_i, x_j) k_m(f_i, f_j)``.

    Parameters
    ----------
    unary : (*shape, L) costs; images (H, W, L), volumes (D, H, W, L), points (n, L); ``+inf`` forbids a label.
    kernels : `Gaussian`, `Bilateral` and `Features` kernels.
    negligible : labels that mean field can give no more than this probability at any pixel are left out by
        `mean_field` and `infer` and come back as zeros; 0 keeps all.
    symmetric : filter so that the kernels are exactly symmetric, as the derivative of an energy must be.

    Notes
    -----
    The sum over pairs includes i = j, as in the update of Krähenbühl and Koltun.  For a labeling that is a constant.
    For a mean field, `expected` takes it as part of the quadratic form, of which `local_field` is the derivative, so
    that the free energy is what the update lowers; it lies above the free energy without these terms, by half the
    weight of the kernel's diagonal where a pixel is undecided, and its negative stays a lower bound of log Z.

    Examples
    --------
    >>> import numpy as np, mixfield as mf
    >>> crf = mf.DenseCRF(np.zeros((6, 8, 2)), [mf.Gaussian(sxy=2, weight=3)])
    >>> crf.shape, crf.n_labels, crf.critical_temperature
    ((6, 8), 2, 1.5)
    """

    batched = True

    def __init__(
        self, unary: ArrayLike, kernels: Sequence[Kernel], *, negligible: float = 0.05, symmetric: bool = True
    ) -> None:
        array = _arrays.as_numpy("unary", unary)
        if array.dtype not in (np.float32, np.float64):
            array = _arrays.floats("unary", unary)
        if array.ndim < 2 or array.size == 0:
            raise MixfieldError(f"unary must have shape (*shape, L), such as (H, W, L), got {array.shape}")
        shape, n_labels = array.shape[:-1], array.shape[-1]
        costs, least = _single(_labels_last(array).reshape(-1, n_labels), shape)
        potts = all(np.ndim(kernel.weight) == 0 and kernel.compatibility is None for kernel in kernels)
        couplings = [couple(kernel, shape, n_labels, potts=potts, symmetric=symmetric) for kernel in kernels]
        self._set(shape, costs, least, couplings, negligible)

    def _set(
        self, shape: tuple[int, ...], costs: Float32s, least: Floats, couplings: Sequence[Coupling], negligible: float
    ) -> None:
        self.shape = shape
        self.costs = costs  # (n, L), FORBIDDEN where a label is forbidden
        self.least = least  # (n,) part of every label's cost, or (1,) zero
        self.couplings = tuple(couplings)
        self.negligible = negligible

    def __repr__(self) -> str:
        return f"DenseCRF({self.shape} pixels with {self.n_labels} labels, {len(self.couplings)} kernels)"

    @classmethod
    def from_probabilities(
        cls,
        probs: ArrayLike,
        image: ArrayLike | None = None,
        *,
        floor: float = 1e-8,
        smooth_sxy: float = 3.0,
        smooth_weight: float = 3.0,
        sxy: float = 67.0,
        srgb: float = 3.0,
        weight: float = 4.0,
        negligible: float = 0.05,
    ) -> DenseCRF:
        """A dense CRF from the scores of a network and the image they belong to.

        Parameters
        ----------
        probs : (H, W, L) probabilities; they need not sum to one, and zeros are fine.
        image : (H, W) or (H, W, channels); without it only the smoothness kernel is used.
        floor : smallest probability of a label, relative to the sum of its pixel.
        smooth_sxy, smooth_weight : the kernel of near pixels.
        sxy, srgb, weight : the kernel of near pixels of similar colour, intensities from 0 to 255.
        negligible : as for `DenseCRF`.

        Examples
        --------
        >>> import numpy as np, mixfield as mf
        >>> scores = np.random.default_rng(0).random((6, 8, 3))
        >>> mf.DenseCRF.from_probabilities(scores).n_labels
        3
        """
        pairwise: list[Kernel] = [Gaussian(smooth_sxy, smooth_weight)]
        if image is not None:
            pairwise.append(Bilateral(image, sxy, srgb, weight))
        return cls(log_costs(probs, floor), pairwise, negligible=negligible)

    def restricted(self, labels: NDArray[np.int64]) -> DenseCRF:
        """The energy with only some of its labels; the filters are shared."""
        costs = np.empty((self.n, len(labels)), np.float32)

        def take(first: int, last: int) -> None:
            np.take(self.costs[first:last], labels, axis=1, out=costs[first:last], mode="clip")

        _threads.split(take, self.n, _threads.available(), updates=costs.size)
        if costs.max() >= FORBIDDEN and len(empty := np.flatnonzero((costs >= FORBIDDEN).all(1))):
            pixel = tuple(int(i) for i in np.unravel_index(empty[0], self.shape))
            raise InfeasibleError(f"labels {labels.tolist()} are all forbidden at pixel {pixel}; keep one that is not")
        crf = object.__new__(DenseCRF)
        crf._set(self.shape, costs, self.least, [c.restricted(labels) for c in self.couplings], negligible=0.0)
        return crf

    # ------------------------------------------------------------------ the five questions

    @property
    def n_labels(self) -> int:
        """Number of labels."""
        return self.costs.shape[1]

    def local_field(self, q: ArrayLike) -> Floats:
        """Expected cost of each label of each pixel, the others following ``q`` (..., *shape, L)."""
        modes = self._modes(q)
        costs = np.where(self.costs < FORBIDDEN, self.costs + self.least[:, None], np.inf)
        return (costs - self._supports(modes)).reshape(np.shape(q))

    def expected(self, q: ArrayLike) -> Floats:
        """Expected cost under ``q`` (..., *shape, L), the quadratic form of the notes, in float64."""
        modes = self._modes(q)
        pairwise = np.einsum("knl,knl->k", modes, self._supports(modes))
        unary = np.einsum("knl,nl->k", modes, np.where(self.costs < FORBIDDEN, self.costs, 0.0), dtype=np.float64)
        forbidden = np.where(self.allowed, 0.0, modes).any(axis=(1, 2))
        total = np.where(forbidden, np.inf, float(self.least.sum()) + unary - 0.5 * pairwise)
        return total.reshape(np.shape(q)[: np.ndim(q) - len(self.shape) - 1])[()]

    def of(self, x: ArrayLike) -> Floats:
        """Cost of labelings (..., *shape)."""
        labels = _arrays.integers("x", x, low=0, high=self.n_labels)
        lead = labels.shape[: max(0, labels.ndim - len(self.shape))]
        _arrays.check_shape("x", labels, (*lead, *self.shape), "ending in the shape of the field")
        return self.expected(np.eye(self.n_labels)[labels])

    # ------------------------------------------------------------------ abilities

    @property
    def allowed(self) -> NDArray[np.bool_]:
        """(n, L) labels each pixel may take."""
        return self.costs < FORBIDDEN

    @cached_property
    def critical_temperature(self) -> float:
        """T_max = Gamma / 2 in closed form, Gamma the sum of the weights of normalised kernels (appendix of the paper).

        For other compatibilities, the largest eigenvalue of minus the costs over labels takes the place of the weight;
        for kernels that are not normalised, their largest row sum is a bound of their largest eigenvalue.
        """
        gamma = 0.0
        for coupling in self.couplings:
            if coupling.normalized:
                gamma += max(0.0, coupling.strength)
            else:
                largest = max(0.0, float(coupling.row_sums[0].max()))
                gamma += largest if coupling.compatibility is None else coupling.strength * largest
        return gamma / 2

    @property
    def coupling_strength(self) -> Floats:
        """(n,) sum of the couplings of each pixel."""
        return np.asarray(sum((coupling.row_sums[0] for coupling in self.couplings), np.zeros(self.n)), np.float64)

    @cached_property
    def evidence(self) -> Float32s:
        """(n, L) probabilities of each pixel by its own costs alone, softmax(-unary)."""
        odds = np.exp(self.costs.min(1, keepdims=True) - self.costs)
        return np.asarray(odds / odds.sum(1, keepdims=True))

    # ------------------------------------------------------------------ properties of the couplings

    @property
    def n(self) -> int:
        """Number of pixels."""
        return self.costs.shape[0]

    @property
    def unary(self) -> Float32s:
        """(*shape, L) costs, ``+inf`` where a label is forbidden."""
        costs = np.where(self.costs < FORBIDDEN, self.costs + self.least[:, None], np.inf)
        return costs.astype(np.float32).reshape(*self.shape, self.n_labels)

    @property
    def is_potts(self) -> bool:
        """Whether every kernel only rewards equal labels."""
        return all(coupling.compatibility is None for coupling in self.couplings)

    @property
    def is_attractive(self) -> bool:
        """Whether no kernel favours unequal labels."""
        return all(coupling.attractive for coupling in self.couplings)

    @cached_property
    def total_support(self) -> tuple[Float32s, Float32s]:
        """(n,) sum of the supports of all labels of a pixel, if every kernel is Potts; and that of rough filters."""
        none = np.zeros(self.n, np.float32)
        exact, rough = ([coupling.row_sums[k] for coupling in self.couplings] for k in (0, 1))
        return sum(exact, none), sum(rough, none)

    # ------------------------------------------------------------------ helpers

    def _modes(self, q: ArrayLike) -> Floats:
        array = np.asarray(q, np.float64)
        lead = array.shape[: max(0, array.ndim - len(self.shape) - 1)]
        _arrays.check_shape("q", array, (*lead, *self.shape, self.n_labels), "ending in (*shape, L) of the field")
        return array.reshape(-1, self.n, self.n_labels)

    def _supports(self, modes: Floats) -> Floats:
        """(K, n, L) minus the expected pairwise costs."""
        n_modes = len(modes)
        values = np.ascontiguousarray(modes.transpose(1, 2, 0), np.float32).reshape(self.n, -1)
        support = np.zeros_like(values)
        for coupling in self.couplings:
            filtered = coupling.filter.apply(values)
            if coupling.compatibility is None:
                support += filtered
            else:
                kernels.softmax.mix_add(np.ascontiguousarray(filtered), coupling.compatibility, n_modes, support)
        return support.reshape(self.n, self.n_labels, n_modes).transpose(2, 0, 1).astype(np.float64)


def _labels_last(costs: NDArray[np.floating]) -> NDArray[np.floating]:
    """The same array, contiguous with labels last."""
    if costs.flags.c_contiguous:
        return costs
    copy = np.empty(costs.shape, costs.dtype)

    def work(first: int, last: int) -> None:
        copy[first:last] = costs[first:last]

    _threads.split(work, len(costs), _threads.available(), updates=costs.size)
    return copy


def _single(costs: NDArray[np.floating], shape: tuple[int, ...]) -> tuple[Float32s, Floats]:
    """Costs (n, L) in single precision, and the part (n,) or (1,) that was subtracted from all labels of a pixel."""
    least = np.zeros(1)
    if not max(costs.max(), -costs.min()) < LARGE:  # infinite, NaN, or too large for single precision
        costs, least = bounded(costs, shape)
    return np.ascontiguousarray(costs, np.float32), least
