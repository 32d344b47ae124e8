"""The classes of `pydensecrf.densecrf`, on the dense CRFs of mixfield.

Names, arguments and the order of axes are those of pydensecrf: labels first, pixels flattened, width before height.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from enum import IntEnum
from threading import Lock
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mixfield import _arrays, _threads
from mixfield.energy import dense_crf
from mixfield.energy.gaussian import Bilateral, Features, Gaussian, Kernel, grid_filter
from mixfield.errors import MixfieldError
from mixfield.filters.normalization import Normalization
from mixfield.pydensecrf.grid import recognise
from mixfield.pydensecrf.inputs import bandwidths, image, matrix, shape_hint
from mixfield.solvers.dense_update import DenseUpdate
from mixfield.solvers.layout import Layout

Float32s = NDArray[np.float32]

BLOCK = 1 << 14  # pixels whose entropy is summed at a time in double precision
BETA = np.ones(1, np.float32)  # one mode, at temperature one


class KernelType(IntEnum):
    """What pydensecrf would learn of a kernel's precision matrix; for inference all are the same."""

    CONST_KERNEL = 0
    DIAG_KERNEL = 1
    FULL_KERNEL = 2


class NormalizationType(IntEnum):
    """How a kernel is normalised."""

    NO_NORMALIZATION = 0
    NORMALIZE_BEFORE = 1
    NORMALIZE_AFTER = 2
    NORMALIZE_SYMMETRIC = 3


CONST_KERNEL, DIAG_KERNEL, FULL_KERNEL = KernelType
NO_NORMALIZATION, NORMALIZE_BEFORE, NORMALIZE_AFTER, NORMALIZE_SYMMETRIC = NormalizationType

_NORMALIZATIONS: tuple[Normalization, ...] = ("none", "before", "after", "symmetric")


class Unary:
    """Costs (n, L) of the labels of each pixel, for `DenseCRF.setUnary`."""

    def __init__(self, costs: Float32s) -> None:
        self.costs = costs


class ConstUnary(Unary):
    """Given costs ``u`` (L, n)."""

    def __init__(self, u: ArrayLike) -> None:
        array = matrix("u", u)
        costs = np.empty(array.shape[::-1], np.float32)

        def turn(first: int, last: int) -> None:
            costs[first:last] = array[:, first:last].T

        _threads.split(turn, len(costs), _threads.available(), updates=costs.size)
        super().__init__(costs)


class LogisticUnary(Unary):
    """Costs ``L @ f``: weights ``L`` (L, k) times features ``f`` (k, n) of the pixels."""

    def __init__(self, L: ArrayLike, f: ArrayLike) -> None:
        weights, features = matrix("L", L), matrix("f", f)
        if weights.shape[1] != len(features):
            raise MixfieldError(
                f"L and f must have shapes (L, k) and (k, n) with the same k, got {weights.shape} and {features.shape}"
            )
        super().__init__(features.astype(np.float32).T @ weights.astype(np.float32).T)


class DenseCRF:
    """A dense CRF of ``nvar`` pixels, voxels or points with ``nlabels`` labels.

    Examples
    --------
    >>> import numpy as np
    >>> d = DenseCRF(nvar=4, nlabels=2)
    >>> d.setUnaryEnergy(np.array([[2, 0, 0, 2], [0, 1, 1, 0]], np.float32))
    >>> d.addPairwiseEnergy(np.array([[0, 0, 9, 9]], np.float32), compat=3)
    >>> np.argmax(d.inference(0), axis=0).tolist(), np.argmax(d.inference(5), axis=0).tolist()
    ([1, 0, 0, 1], [1, 1, 1, 1])
    """

    def __init__(self, nvar: int, nlabels: int) -> None:
        self._shape: tuple[int, ...] = (_arrays.at_least("nvar", nvar, 1),)
        self._is_grid = False
        self._nvar, self._nlabels = int(nvar), _arrays.at_least("nlabels", nlabels, 1)
        self._costs: Float32s | None = None
        self._kernels: list[Kernel] = []
        self._built: dense_crf.DenseCRF | None = None
        self._building = Lock()
        self._free: list[DenseUpdate] = []  # working memory that no call uses

    # ------------------------------------------------------------------ the energy

    def setUnary(self, u: Unary) -> None:
        """Set the costs of labels."""
        if u.costs.shape != (self._nvar, self._nlabels):
            raise MixfieldError(
                f"u must hold costs of shape (nlabels, n) = {(self._nlabels, self._nvar)}, got {u.costs.shape[::-1]}"
            )
        self._costs = u.costs
        self._changed()

    def setUnaryEnergy(self, u: ArrayLike, f: ArrayLike | None = None) -> None:
        """Set the costs ``u`` (L, n) of labels, or ``u @ f`` if features ``f`` of the pixels are given.

        An infinite cost forbids a label.
        """
        if f is not None:
            self.setUnary(LogisticUnary(u, f))
            return
        array = _arrays.as_numpy("u", u)
        if array.shape not in {(self._nlabels, self._nvar), (self._nlabels, *self._shape)}:
            raise MixfieldError(
                f"u must have shape (nlabels, n) = {(self._nlabels, self._nvar)}, got {array.shape}"
                + shape_hint(array.shape, self._nlabels, self._nvar, self._shape)
            )
        self.setUnary(ConstUnary(array.reshape(self._nlabels, self._nvar)))

    def addPairwiseEnergy(
        self,
        features: ArrayLike,
        compat: ArrayLike,
        kernel: int = DIAG_KERNEL,
        normalization: int = NORMALIZE_SYMMETRIC,
    ) -> None:
        """Add a Gaussian kernel over ``features`` (d, n).

        Parameters
        ----------
        features : divided by their bandwidths.
        compat : the weight of a Potts kernel; or (L,) costs of two pixels having the same label; or (L, L) costs of
            pairs of labels.
        kernel : `CONST_KERNEL`, `DIAG_KERNEL` or `FULL_KERNEL`; makes no difference.
        normalization : `NO_NORMALIZATION`, `NORMALIZE_BEFORE`, `NORMALIZE_AFTER` or `NORMALIZE_SYMMETRIC`.
        """
        array = matrix("features", features)
        if array.shape[1] != self._nvar:
            hint = "; features come first: pass its transpose" if len(array) == self._nvar else ""
            raise MixfieldError(f"features must have shape (d, n), n = {self._nvar}, got {array.shape}{hint}")
        if not np.isfinite(array).all():
            raise MixfieldError("features must hold finite numbers, got infinity")
        points = np.array(array.T, np.float32, order="C")
        self._add(self._spatial(points.T) or Features(points), compat, kernel, normalization)

    def energy(self, *, negligible: float = 0.05) -> dense_crf.DenseCRF:
        """The same energy for `mixfield.infer` and `mixfield.mean_field`: several modes instead of one."""
        return dense_crf.DenseCRF(self._unary(), self._kernels, negligible=negligible)

    # ------------------------------------------------------------------ mean field

    def inference(self, niter: int) -> Float32s:
        """Marginals (L, n) after ``niter`` parallel updates, starting without the kernels."""
        _arrays.at_least("niter", niter, 0)
        with self._update() as update:
            return _marginals(update.layout, update.run(BETA, niter))

    def startInference(self) -> tuple[Float32s, Float32s, Float32s]:
        """Marginals (L, n) before the first update, and two empty arrays that `stepInference` expects."""
        empty = np.empty((0, 0), np.float32)
        with self._update() as update:
            return _marginals(update.layout, update.start(BETA)), empty, empty

    def stepInference(self, Q: Float32s, tmp1: Any, tmp2: Any) -> None:  # noqa: ARG002
        """Update marginals ``Q`` (L, n) in place."""
        with self._update() as update:
            new = update.layout.zeros()
            update.step(self._channels(update.layout, Q), BETA, new)
            Q[...] = _marginals(update.layout, new)

    def klDivergence(self, Q: Float32s) -> float:
        """Expected unary and pairwise cost minus entropy of ``Q`` (L, n), *every pair of pixels counted twice*.

        This is the number of pydensecrf.  The objective of mean field, KL(Q || P) up to log Z, counts pairs once; it is
        minus ``mixfield.Mode.log_z`` of the same marginals.
        """
        with self._update() as update:
            crf = update.crf
            bound = float(update.bounds(self._channels(update.layout, Q))[0])  # entropy - unary + support / 2
        unary = float(np.einsum("ln,nl->", Q, crf.costs, dtype=np.float64)) + float(crf.least.sum())
        entropy = sum(_entropy(Q[:, first : first + BLOCK]) for first in range(0, self._nvar, BLOCK))
        return entropy - unary - 2 * bound

    # ------------------------------------------------------------------ helpers

    def _spatial(self, features: Float32s) -> Gaussian | None:
        """The kernel of positions, if ``features`` (d, n) are those of a grid; it fixes the shape of the field."""
        grid = recognise(features)
        if grid is None or (self._is_grid and grid.shape != self._shape) or not grid_filter(grid.shape, grid.sigmas):
            return None
        self._shape, self._is_grid = grid.shape, True
        return Gaussian(grid.sigmas)

    def _add(self, kernel: Kernel, compat: ArrayLike, kind: int, normalization: int) -> None:
        KernelType(kind)
        costs = np.asarray(compat, np.float64)
        if costs.shape not in ((), (self._nlabels,), (self._nlabels, self._nlabels)):
            raise MixfieldError(
                "compat must be a number, (nlabels,) costs of agreeing or (nlabels, nlabels) costs, with nlabels = "
                f"{self._nlabels}, got shape {costs.shape}"
            )
        if not np.isfinite(costs).all():
            raise MixfieldError("compat must hold finite numbers, got NaN or infinity")
        norm = _NORMALIZATIONS[NormalizationType(normalization)]
        if costs.ndim == 2:
            kernel = replace(kernel, compatibility=costs, normalization=norm)
        else:
            kernel = replace(kernel, weight=-costs if costs.ndim else float(costs), normalization=norm)
        self._kernels.append(kernel)
        self._changed()

    def _unary(self) -> Float32s:
        """(*shape, L) costs."""
        if self._costs is None:
            return np.zeros((*self._shape, self._nlabels), np.float32)
        return self._costs.reshape(*self._shape, self._nlabels)

    def _changed(self) -> None:
        """The energy has changed: its filters are built anew at the next use."""
        with self._building:
            self._built, self._free = None, []

    @contextmanager
    def _update(self) -> Iterator[DenseUpdate]:
        """The update of one mode, with working memory of its own, so that threads may share this object."""
        with self._building:
            if self._built is None:
                self._built = dense_crf.DenseCRF(self._unary(), self._kernels, negligible=0, symmetric=False)
            crf, free = self._built, self._free
        try:
            update = free.pop()
        except IndexError:
            update = DenseUpdate(crf, 1, threads=_threads.available(), monitor=False)
        update.invalidate()
        yield update
        free.append(update)

    def _channels(self, layout: Layout, Q: Float32s) -> Float32s:
        _arrays.check_shape(
            "Q", np.asarray(Q), (self._nlabels, self._nvar), "= (nlabels, n), as startInference gives it"
        )
        return layout.pack(np.asarray(Q).T[None])


def _marginals(layout: Layout, values: Float32s) -> Float32s:
    """Marginals (L, n); a view of the channels where these hold all labels."""
    n_labels = layout.crf.n_labels
    if layout.stored == n_labels:
        return values[:, :n_labels].T
    return cast(Float32s, layout.unpack(values)[0].T)


class DenseCRF2D(DenseCRF):
    """A dense CRF of an image ``w`` wide and ``h`` high with ``nlabels`` labels.

    Examples
    --------
    >>> import numpy as np
    >>> d = DenseCRF2D(4, 3, 2)
    >>> d.setUnaryEnergy(np.random.default_rng(0).random((2, 12), np.float32))
    >>> d.addPairwiseGaussian(sxy=3, compat=3)
    >>> d.addPairwiseBilateral(sxy=80, srgb=13, rgbim=np.zeros((3, 4, 3), np.uint8), compat=10)
    >>> np.argmax(d.inference(5), axis=0).reshape(3, 4).tolist()
    [[0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]]
    """

    def __init__(self, w: int, h: int, nlabels: int) -> None:
        super().__init__(_arrays.at_least("w", w, 1) * _arrays.at_least("h", h, 1), nlabels)
        self._shape, self._is_grid = (int(h), int(w)), True

    def addPairwiseGaussian(
        self,
        sxy: float | Sequence[float],
        compat: ArrayLike,
        kernel: int = DIAG_KERNEL,
        normalization: int = NORMALIZE_SYMMETRIC,
    ) -> None:
        """Add the smoothness kernel: ``sxy`` is its bandwidth in pixels, one number or (x, y).

        The other parameters are those of `addPairwiseEnergy`.
        """
        x, y = bandwidths("sxy", sxy, 2)
        self._add(Gaussian((y, x)), compat, kernel, normalization)

    def addPairwiseBilateral(
        self,
        sxy: float | Sequence[float],
        srgb: float | Sequence[float],
        rgbim: ArrayLike,
        compat: ArrayLike,
        kernel: int = DIAG_KERNEL,
        normalization: int = NORMALIZE_SYMMETRIC,
    ) -> None:
        """Add the appearance kernel.

        Parameters
        ----------
        sxy : bandwidth in pixels, one number or (x, y).
        srgb : bandwidth of intensities, one number or one per channel.
        rgbim : (h, w, channels) or (h, w) intensities, usually from 0 to 255.
        compat, kernel, normalization : as for `addPairwiseEnergy`.
        """
        x, y = bandwidths("sxy", sxy, 2)
        pixels = image(rgbim, self._shape)
        widths = bandwidths("srgb", srgb, pixels.shape[2])
        self._add(Bilateral(pixels, (y, x), widths), compat, kernel, normalization)


def _entropy(q: Float32s) -> float:
    """Entropy of marginals, in float64."""
    exact = q.astype(np.float64)
    return float(-(exact * np.log(np.maximum(exact, 1e-30))).sum())
