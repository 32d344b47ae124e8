"""People on a ground plane who explain silhouettes: Probabilistic Occupancy Maps (Fleuret et al., PAMI 2008).

Camera c has a soft foreground ``B``; the people at the occupied cells cover a union ``A`` of rectangles.  With
``|.|`` the sum over the W x H pixels and ``d = (|A| - 2 |A.B| + |B| + eta W H) / (|A| + eta W H)``,

    E(x) = sum_c psi(d_c) - sum_n [x_n log eps + (1 - x_n) log(1 - eps)]

where ``psi(d) = d^2 / 2 v`` in the released program and ``d / sigma`` in the article.  Both divide by the area of all
people, so that one more person counts the less the more there are.  The local form does not,

    psi = (1 / sigma) sum_p w(p) |A(p) - B(p)|,    w(p) = 1 / (area of a person at p),

so that an unexplained silhouette costs 1 / sigma in every view, near and far, in a crowd and alone: sigma is the mean
share of a person's box that is wrong.  It is linear in each x_n, so its mean field needs no approximation of psi.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mixfield import _arrays, kernels
from mixfield.errors import MixfieldError
from mixfield.scene.scene import Scene
from mixfield.scene.view import View

if TYPE_CHECKING:
    from mixfield.kernels.silhouettes import Views

Floats = NDArray[np.float64]

MISMATCH = 0.05  # sigma of the local form: twenty nats for an unexplained silhouette, for silhouettes that fill boxes
FORMS = {"released": 2, "article": 1, "local": 0}  # power of d in psi


class Occupancy:
    """The energy of people at the cells of a ground, given masks; label 1 is "occupied".

    Parameters
    ----------
    scene : the ground, the views and the prior.
    masks : one array (H, W) per view, foreground in [0, 1] (booleans and soft masks alike); 8-bit images are divided
        by 255, unless they hold nothing but 0 and 1.  At the size of the view, or already reduced by
        ``scene.reduction``.
    form : ``"released"`` for d^2 / 2v as in the released program, ``"article"`` for d / sigma, ``"local"`` for the
        mismatch of each person over sigma; by default that of the scene.
    variance : v (or sigma) of every view, or one per view; by default ``scene.scales`` (`MISMATCH` in the local form):
        those of the scene, or else in proportion to the share of the image that a person covers and to the number of
        views that see the same cells.
    noise : eta, an area of noise as a share of the image.
    ignored : cells that are empty with a higher probability are left out of the average image; 1 leaves out none.
    damping : weight of the old probability in an update, as in the released program (0.8 there); None lets each cell
        have its own, see `mixfield.kernels.occupancy`.

    Notes
    -----
    ``local_field`` replaces the mean of psi by psi of the mean image, as POM does.  ``expected`` adds the first-order
    terms of Hoeffding's expansion, ``sum_n E_{x_n}[psi(E[A | x_n])] - psi(E[A])``, to psi of the mean image.  Its
    derivative is the local field wherever the other cells are certain, and it is exact where at most one is not.
    """

    n_labels = 2
    batched = True

    def __init__(
        self,
        scene: Scene,
        masks: Sequence[ArrayLike],
        *,
        form: str | None = None,
        variance: float | Sequence[float] | None = None,
        noise: float = 0.01,
        ignored: float = 1.0,
        damping: float | None = None,
    ) -> None:
        form = scene.form if form is None else form
        if form not in FORMS:
            raise MixfieldError(f"form must be one of {sorted(FORMS)}, got {form!r}")
        if not 0 < ignored <= 1:
            raise MixfieldError(f"ignored must be a probability above 0, got {ignored}")
        if damping is not None and not 0 <= damping < 1:
            raise MixfieldError(f"damping must lie in [0, 1), got {damping}")
        if len(masks) != len(scene.views):
            raise MixfieldError(f"masks must hold one mask per view ({len(scene.views)}), got {len(masks)}")
        self.scene, self.damping = scene, damping
        self.shape = scene.ground.shape
        self.masks = tuple(v.foreground(mask, scene.reduction) for mask, v in zip(masks, scene.views, strict=True))
        default = scene.variance or MISMATCH if form == "local" else scene.scales
        self.variance = _per_view(default if variance is None else variance, len(masks))
        self._views = scene.reduced_views
        self._weights = tuple(_pixel_weights(view, form) for view in self._views)
        self._form, self._ignored = form, ignored
        self._noise = 0.0 if form == "local" else _arrays.positive("noise", noise)

    def __repr__(self) -> str:
        rows, columns = self.shape
        return f"Occupancy({rows} x {columns} cells, {len(self.masks)} masks)"

    @cached_property
    def views(self) -> Views:
        """Masks and rectangles as arrays of `kernels.silhouettes`."""
        images = [(weight, weight * mask) for weight, mask in zip(self._weights, self.masks, strict=True)]
        blocks = [_blocks(one, *view.edges) for one, view in zip(images, self._views, strict=True)]
        whole = np.array([[image.sum() for image in one] for one in images])
        bare = whole - [[block[..., k].sum() for k in range(2)] for block in blocks]
        seen = [np.flatnonzero(view.visible) for view in self._views]
        power = FORMS[self._form]
        return kernels.silhouettes.Views(
            height=np.array([len(block) for block in blocks], np.int32),
            width=np.array([block.shape[1] for block in blocks], np.int32),
            block_start=_arrays.starts([block.size // 2 for block in blocks]),
            block=np.concatenate([block.reshape(-1, 2) for block in blocks]),
            rectangle_start=_arrays.starts([len(cells) for cells in seen]),
            cell=np.concatenate(seen).astype(np.uint32),
            corner=np.concatenate([view.corners for view in self._views]),
            area=whole[:, 0],
            bare=bare[:, 0],
            bare_mask=bare[:, 1],
            foreground=whole[:, 1],
            weight=1.0 / (max(power, 1) * np.array(self.variance)),
            power=power,
            noise=self._noise,
            ignored=self._ignored,
            cells=np.arange(self.scene.ground.n, dtype=np.uint32),
            height_costs=-np.log(self.scene.heights),
        )

    @cached_property
    def prior_costs(self) -> Floats:
        """(2,) cost of an empty and of an occupied cell."""
        return -np.log([1.0 - self.scene.prior, self.scene.prior])

    @property
    def start(self) -> Floats:
        """(rows, columns, 2) marginals of the prior, at which a mean field begins."""
        return np.broadcast_to(np.exp(-self.prior_costs), (*self.shape, 2)).copy()

    @property
    def allowed(self) -> NDArray[np.bool_]:
        """(rows, columns, 2) labels of each cell: all."""
        return np.ones((*self.shape, 2), bool)

    @property
    def critical_temperature(self) -> float:
        """The largest gain of one person beside the prior, at least 1: at a higher T it is less than one nat."""
        field = self.local_field(self.start)
        return max(1.0, float((field[..., 0] - field[..., 1]).max()))

    def local_field(self, q: ArrayLike) -> Floats:
        """(..., rows, columns, 2) cost of each label of each cell, up to a constant per cell; ``q`` likewise."""
        return self._psi(q)[1] + self.prior_costs

    def expected(self, q: ArrayLike) -> Floats:
        """(...) expected cost under ``q`` (..., rows, columns, 2)."""
        marginals = np.asarray(q, np.float64)
        average, costs, _ = self._psi(marginals)
        return np.asarray(average + (marginals * (costs + self.prior_costs)).sum((-3, -2, -1)))

    def of(self, x: ArrayLike) -> float:
        """Cost of people at the cells where ``x`` (rows, columns) is not 0: k for a person of the k-th height."""
        prior = self.scene.heights
        height = _arrays.integers("x", x, low=0, high=1 + len(prior))
        _arrays.check_shape("x", height, self.shape, "= shape of the ground")
        cost = float(np.append(self.prior_costs[0], self.prior_costs[1] - np.log(prior))[height].sum())
        power = FORMS[self._form]
        for view, mask, weight, variance in zip(self._views, self.masks, self._weights, self.variance, strict=True):
            covered = np.zeros((view.height + 1, view.width + 1))
            visible = height.ravel()[view.visible]
            for left, top, right, bottom in view.rectangles[visible > 0, visible[visible > 0] - 1]:
                covered[[top, top, bottom, bottom], [left, right, left, right]] += [1, -1, -1, 1]
            image = covered.cumsum(0).cumsum(1)[:-1, :-1] > 0.5
            size = weight[image].sum() + self._noise * weight.sum()
            wrong = size - 2.0 * (weight * mask)[image].sum() + (weight * mask).sum()
            cost += wrong / variance if power == 0 else (wrong / size) ** power / (power * variance)
        return cost

    def heights(self, q: ArrayLike) -> Floats:
        """(..., rows, columns, H) probabilities of the heights of a person in each cell, for ``q`` likewise."""
        return self._psi(q)[2]

    def _psi(self, q: ArrayLike) -> tuple[Floats, Floats, Floats]:
        """psi of the average images (...), that of each label relative to it (..., rows, columns, 2), and `heights`."""
        marginals = np.asarray(q, np.float64)
        flat = marginals.reshape(-1, self.scene.ground.n, 2)
        prior = self.scene.heights
        shares = np.tile(prior, (*flat.shape[:2], 1))
        average, costs = np.empty(len(flat)), np.empty((*flat.shape[:2], 1 + len(prior)))
        images = np.empty((3, kernels.silhouettes.largest(self.views)))
        for k, mode in enumerate(flat):
            empty = np.clip(mode[:, 0], kernels.silhouettes.EMPTIEST, 1.0)
            average[k] = kernels.silhouettes.solve_heights(self.views, empty, shares[k], images, costs[k])
        shape = marginals.shape[:-1]
        return average.reshape(shape[:-2]), costs[..., :2].reshape(marginals.shape), shares.reshape(*shape, -1)


def _per_view(variance: float | Sequence[float], n_views: int) -> tuple[float, ...]:
    """One positive number for each view."""
    scales = _arrays.floats("variance", variance)
    if scales.ndim and scales.shape != (n_views,):
        raise MixfieldError(f"variance must be one number, or one per view ({n_views}), got shape {scales.shape}")
    return tuple(_arrays.positive("variance", v) for v in np.broadcast_to(scales, n_views).tolist())


def _pixel_weights(view: View, form: str) -> Floats:
    """(H, W) weight of each pixel: whether it is observed, and in the local form over the area of a person there."""
    observed = np.ones((view.height, view.width)) if view.observed is None else view.observed
    return observed * view.person_weights if form == "local" else observed


def _blocks(images: Sequence[Floats], rows: NDArray[np.int64], columns: NDArray[np.int64]) -> Floats:
    """(H, W, K) sums of K images over the blocks between edges; zeros below pad H to a multiple of four."""
    sums = np.empty((-(-(len(rows) - 1) // 4) * 4, len(columns) - 1, len(images)))
    for k, image in enumerate(images):
        kernels.silhouettes.blocks(image, rows, columns, sums[..., k])
    return sums
