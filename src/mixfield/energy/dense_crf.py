"""Dense Gaussian CRFs: every pixel coupled to every other by Gaussian kernels (Krähenbühl and Koltun, 2011)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mixfield import _arrays, _threads, kernels
from mixfield.energy.coupling import couple
from mixfield.energy.gaussian import Bilateral, Gaussian, Kernel
from mixfield.energy.unary import FORBIDDEN, LARGE, log_costs, tamed
from mixfield.errors import InfeasibleError, MixfieldError
from mixfield.filters.bands import Hear, Portions
from mixfield.filters.buffers import Scratch, padded, room
from mixfield.filters.lattice import Lattice
from mixfield.filters.streaming import Sums

Floats = NDArray[np.float64]
Float32s = NDArray[np.float32]

SPARE = 4  # times as many pixels as corners of a lattice there must be for each part that is collected apart
FEW = 6  # labels up to which it pays to leave out the last of them


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
    threads : threads for building the filters; they do not change the result.

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
    kept: NDArray[np.int64] | None = None  # labels of the field that this one was restricted from

    def __init__(
        self,
        unary: ArrayLike,
        kernels: Sequence[Kernel],
        *,
        negligible: float = 0.05,
        symmetric: bool = True,
        threads: int | None = None,
    ) -> None:
        costs = np.asarray(unary)
        if costs.dtype not in (np.float32, np.float64):
            costs = _arrays.floats("unary", unary)
        if costs.ndim < 2 or costs.size == 0:
            raise MixfieldError(f"unary must have shape (*shape, L), such as (H, W, L), got {costs.shape}")
        threads = threads or _threads.available()
        costs = _turned(costs, threads)
        self._settle(costs.reshape(-1, costs.shape[-1]), costs.shape[:-1], negligible)
        self._couple(kernels, symmetric=symmetric, threads=threads)

    def _settle(self, costs: NDArray[np.floating], shape: tuple[int, ...], negligible: float) -> None:
        """Check costs (n, L) and keep them in single precision, forbidden labels at a price nothing outweighs."""
        least = np.zeros(1)
        if not max(costs.max(), -costs.min()) < LARGE:  # infinite, not a number, or really large
            costs, least = tamed(costs, shape)
        self.shape = shape
        self.costs = np.ascontiguousarray(costs, np.float32)
        self.least = least  # (n,) part of every label's cost, or (1,) zero
        self.negligible = negligible

    def _couple(self, pairwise: Sequence[Kernel], *, symmetric: bool, threads: int) -> None:
        potts = all(np.ndim(kernel.weight) == 0 and kernel.compatibility is None for kernel in pairwise)
        self.couplings = tuple(
            couple(kernel, self.shape, self.n_labels, potts=potts, symmetric=symmetric, threads=threads)
            for kernel in pairwise
        )

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
        threads: int | None = None,
    ) -> DenseCRF:
        """A dense CRF from the scores of a network and the image they belong to.

        Parameters
        ----------
        probs : (H, W, L) probabilities; they need not sum to one, and zeros are fine.
        image : (H, W) or (H, W, channels); without it only the smoothness kernel is used.
        floor : smallest probability of a label, relative to the sum of its pixel.
        smooth_sxy, smooth_weight : the kernel of near pixels.
        sxy, srgb, weight : the kernel of near pixels of similar colour, intensities from 0 to 255.
        negligible, threads : as for `DenseCRF`.

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
        return cls(log_costs(probs, floor), pairwise, negligible=negligible, threads=threads)

    # ------------------------------------------------------------------ what an energy answers

    @property
    def n_labels(self) -> int:
        """Number of labels."""
        return self.costs.shape[1]

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
    def allowed(self) -> NDArray[np.bool_]:
        """(n, L) labels each pixel may take."""
        return self.costs < FORBIDDEN

    def local_field(self, q: ArrayLike) -> Floats:
        """Expected cost of each label of each pixel, the others following ``q`` (..., *shape, L)."""
        modes = self._modes(q)
        costs = np.where(self.costs < FORBIDDEN, self.costs + self.least[:, None], np.inf)
        return (costs - self._supports(modes)).reshape(np.shape(q))

    def expected(self, q: ArrayLike) -> Floats:
        """Expected cost under ``q`` (..., *shape, L), the quadratic form of the notes, in float64."""
        modes = self._modes(q)
        heard = np.einsum("knl,knl->k", modes, self._supports(modes))
        unary = np.einsum("knl,nl->k", modes, np.where(self.costs < FORBIDDEN, self.costs, 0.0), dtype=np.float64)
        touched = np.where(self.allowed, 0.0, modes).any(axis=(1, 2))
        total = np.where(touched, np.inf, float(self.least.sum()) + unary - 0.5 * heard)
        return total.reshape(np.shape(q)[: np.ndim(q) - len(self.shape) - 1])[()]

    def of(self, x: ArrayLike) -> Floats:
        """Cost of labelings (..., *shape)."""
        labels = _arrays.integers("x", x, low=0, high=self.n_labels)
        lead = labels.shape[: max(0, labels.ndim - len(self.shape))]
        _arrays.check_shape("x", labels, (*lead, *self.shape), "ending in the shape of the field")
        return self.expected(np.eye(self.n_labels)[labels])

    @cached_property
    def critical_temperature(self) -> float:
        """T_max = Gamma / 2 in closed form, Gamma the sum of the weights of normalised kernels (appendix of the paper).

        For other compatibilities, the largest eigenvalue of minus the costs over labels takes the place of the weight;
        for kernels that are not normalised, their largest row sum is a bound of their largest eigenvalue.
        """
        total = 0.0
        for coupling in self.couplings:
            if coupling.unit:
                total += max(0.0, coupling.strength)
            else:
                largest = max(0.0, float(coupling.filter.row_sums(_threads.available())[0].max()))
                total += largest if coupling.compatibility is None else coupling.strength * largest
        return total / 2

    @property
    def coupling_strength(self) -> Floats:
        """(n,) sum of the couplings of each pixel, for criteria that clamp where it is largest."""
        sums = (coupling.filter.row_sums(_threads.available())[0] for coupling in self.couplings)
        return np.asarray(sum(sums, np.zeros(self.n)), np.float64)

    # ------------------------------------------------------------------ what the dense solver asks

    @cached_property
    def evidence(self) -> Float32s:
        """(n, L) probabilities of each pixel alone."""
        odds = np.exp(self.costs.min(1, keepdims=True) - self.costs)
        return np.asarray(odds / odds.sum(1, keepdims=True))

    @cached_property
    def is_potts(self) -> bool:
        """Whether every kernel only rewards equal labels."""
        return all(coupling.compatibility is None for coupling in self.couplings)

    @property
    def is_attractive(self) -> bool:
        """Whether no kernel favours unequal labels."""
        return all(coupling.attractive for coupling in self.couplings)

    @property
    def channels(self) -> int:
        """Numbers stored per pixel and mode: all labels, or all but the last where the rest tells it."""
        return self.n_labels - 1 if self.is_potts and 1 < self.n_labels <= FEW else self.n_labels

    @property
    def largest_support(self) -> float:
        """The largest support that a label can get anywhere, if every kernel is Potts."""
        return float(self.shared_support[0].max(initial=0.0))

    @cached_property
    def shared_support(self) -> tuple[Float32s, Float32s]:
        """(n,) support that the labels of a pixel share, if every kernel is Potts; and the same where filters are
        rough."""
        sums = [coupling.filter.row_sums(_threads.available()) for coupling in self.couplings]
        silence = np.zeros(self.n, np.float32)
        return sum((exact for exact, _ in sums), silence), sum((rough for _, rough in sums), silence)

    def width(self, n_modes: int) -> int:
        """Numbers stored per pixel for all modes together."""
        return padded(n_modes * self.channels)

    def portions(self, channels: int) -> Portions:
        """How the field is cut where pixels have so many channels."""
        whole = not all(isinstance(coupling.filter, Lattice) for coupling in self.couplings)
        lattices = [coupling.filter for coupling in self.couplings if isinstance(coupling.filter, Lattice)]
        parts = self.n // (SPARE * max((lattice.size for lattice in lattices), default=1))
        return Portions.of(self.n, self.shape[-1] if whole else min(self.n, 128), channels, parts)

    def sums(self, channels: int, portions: Portions) -> list[Sums]:
        """The sums of every kernel, to be used again and again."""
        return [coupling.filter.sums(channels, portions.pixels) for coupling in self.couplings]

    def listen(
        self,
        sums: Sequence[Sums],
        portions: Portions,
        scratch: Scratch,
        n_modes: int,
        threads: int,
        hear: Hear,
        *,
        in_order: bool = False,
    ) -> None:
        """Call ``hear(band, first, last, support)`` for every band, with what the pixels hear of the ``sums``.

        The support lies in ``scratch`` and may be written to.  The bands of a part come ``in_order`` if wanted.
        """

        def add(band: int, first: int, last: int, support: Float32s) -> None:
            if not self.couplings or self.couplings[0].compatibility is not None:
                support[:] = 0.0
            for number, (coupling, ready) in enumerate(zip(self.couplings, sums, strict=True)):
                if coupling.compatibility is None:
                    ready.add(first, last, support, keep=number > 0)
                else:
                    filtered = np.empty_like(support)
                    ready.add(first, last, filtered, keep=False)
                    kernels.softmax.mix_add(filtered, coupling.compatibility, n_modes, support)
            hear(band, first, last, support)

        portions.each_band(add, scratch, threads, in_order=in_order)

    def region(self, points: NDArray[np.int64], n_modes: int, threads: int = 1) -> Callable[[Float32s], Float32s]:
        """An approximation of the support that some pixels give each other: (p, C) probabilities to (p, C)."""

        def each(work: Callable[[int], Any]) -> list[Any]:
            return _threads.each(work, len(self.couplings), threads, updates=64 * len(points))

        filters = each(lambda k: self.couplings[k].filter.region(points))

        def support(values: Float32s) -> Float32s:
            total = np.zeros_like(values)
            for coupling, sums in zip(self.couplings, each(lambda k: filters[k](values)), strict=True):
                if coupling.compatibility is None:
                    total += sums
                else:
                    kernels.softmax.mix_add(sums, coupling.compatibility, n_modes, total)
            return total

        return support

    def restricted(self, labels: NDArray[np.int64]) -> DenseCRF:
        """The energy with only some of its labels; the filters are shared."""
        crf = DenseCRF.__new__(DenseCRF)
        crf.shape, crf.least, crf.negligible = self.shape, self.least, 0.0
        crf.kept = labels if self.kept is None else self.kept[labels]
        crf.costs = np.empty((self.n, len(labels)), np.float32)

        def take(first: int, last: int) -> None:
            np.take(self.costs[first:last], labels, axis=1, out=crf.costs[first:last], mode="clip")

        _threads.split(take, self.n, _threads.available(), updates=crf.costs.size)
        if crf.costs.max() >= FORBIDDEN and len(empty := np.flatnonzero((crf.costs >= FORBIDDEN).all(1))):
            pixel = tuple(int(i) for i in np.unravel_index(empty[0], self.shape))
            raise InfeasibleError(f"labels {labels.tolist()} are all forbidden at pixel {pixel}; keep one that is not")
        crf.couplings = tuple(coupling.restricted(labels) for coupling in self.couplings)
        if self.is_potts:
            crf.__dict__["shared_support"] = self.shared_support
        return crf

    # ------------------------------------------------------------------ helpers

    def _modes(self, q: ArrayLike) -> Floats:
        array = np.asarray(q, np.float64)
        lead = array.shape[: max(0, array.ndim - len(self.shape) - 1)]
        _arrays.check_shape("q", array, (*lead, *self.shape, self.n_labels), "ending in (*shape, L) of the field")
        return array.reshape(-1, self.n, self.n_labels)

    def _supports(self, modes: Floats) -> Floats:
        """(K, n, L) minus the expected pairwise costs."""
        n_modes, size = len(modes), len(modes) * self.n_labels
        values = room(self.n, padded(size))
        values[:, :size] = modes.transpose(1, 2, 0).reshape(self.n, -1)
        out, channels, threads = room(*values.shape), values.shape[1], _threads.available()
        portions = self.portions(channels)
        sums = self.sums(channels, portions)
        for one in sums:
            one.take(values, threads)

        def hear(band: int, first: int, last: int, support: Float32s) -> None:  # noqa: ARG001
            out[first:last] = support

        self.listen(sums, portions, Scratch(portions.largest, channels), n_modes, threads, hear)
        return out[:, :size].reshape(self.n, self.n_labels, n_modes).transpose(2, 0, 1).astype(np.float64)


def _turned(costs: NDArray[np.floating], threads: int) -> NDArray[np.floating]:
    """The same with labels last in memory too, as networks rarely give them."""
    if costs.flags.c_contiguous:
        return costs
    turned = np.empty(costs.shape, costs.dtype)

    def work(first: int, last: int) -> None:
        turned[first:last] = costs[first:last]

    _threads.split(work, len(costs), threads, updates=costs.size)
    return turned
