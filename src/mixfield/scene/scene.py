"""A scene: a ground, its views, and the prior of occupied cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mixfield import _arrays
from mixfield.errors import MixfieldError
from mixfield.scene.camera import Camera, Person
from mixfield.scene.ground import Ground
from mixfield.scene.view import View

DENSITY = 0.04  # prior number of people per square metre
MARGIN = 3.0  # metres of ground modelled beyond the area of interest: people there are in the images too
PERSON_HEIGHT = 40.0  # pixels that suffice to tell people apart; larger images are reduced
SHARE = 0.2  # v over the area share of a person in the image: the released v = 0.01 on the released sample
VISIBLE_SHARE = 0.5  # of a silhouette that must lie in the image
LEAST_GROUND = 0.01  # share of the cells that a camera must see


@dataclass(frozen=True, eq=False)
class Scene:
    """The cells where people may stand, and their silhouettes in each view.

    Attributes
    ----------
    ground : the cells.
    views : one per camera.
    prior : probability that a cell is occupied.
    variance : (cameras,) scale v of the data term; None derives it from the size of a person in each view.
    region : (rows, columns) cells of the area of interest, outside of which nothing is reported; None for all.
    reduction : images are averaged over squares of this side before use.
    form : of the data term, see `Occupancy`.
    heights : (H,) prior probabilities of the heights of people of which the views show ``sizes``.
    cameras : the calibrations; may be empty.
    """

    ground: Ground
    views: tuple[View, ...]
    prior: float = 0.01
    variance: tuple[float, ...] | None = None
    region: NDArray[np.bool_] | None = None
    reduction: int = 1
    cameras: tuple[Camera, ...] = ()
    form: str = "released"
    heights: tuple[float, ...] = (1.0,)

    def __post_init__(self) -> None:
        if not self.views:
            raise MixfieldError("views must hold at least one view")
        for c, view in enumerate(self.views):
            _arrays.check_shape(f"boxes of view {c}", view.boxes, (self.ground.n, 4), "= (cells of the ground, 4)")
            if (1 if view.sizes is None else view.sizes.shape[1]) != len(self.heights):
                raise MixfieldError(f"heights must hold a probability for each of the sizes of view {c}")
        if not 0 < _arrays.positive("prior", self.prior) < 1:
            raise MixfieldError(f"prior must be a probability between 0 and 1, got {self.prior}")
        if self.variance is not None and len(self.variance) != len(self.views):
            raise MixfieldError(
                f"variance must hold one number per view ({len(self.views)}), got {len(self.variance)} numbers"
            )
        for value in self.variance or ():
            _arrays.positive("variance", value)
        if self.region is not None:
            _arrays.check_shape("region", np.asarray(self.region), self.ground.shape, "= shape of the ground")
        _arrays.at_least("reduction", self.reduction, 1)
        if not any(view.visible.any() for view in self.views):
            raise MixfieldError("no view shows any cell of the ground: check the calibrations and their unit (metres)")

    def __repr__(self) -> str:
        (rows, columns), cell = self.ground.shape, self.ground.cell
        return f"Scene({rows} x {columns} cells of {cell:g} m, {len(self.views)} views, prior={self.prior:.3g})"

    @cached_property
    def reduced_views(self) -> tuple[View, ...]:
        """The views at the reduced size."""
        return tuple(view.reduced(self.reduction) for view in self.views)

    @cached_property
    def scales(self) -> tuple[float, ...]:
        """(cameras,) v of each view: ``variance``, or from the size of a person and the overlap of the views."""
        if self.variance is not None:
            return self.variance
        shares = np.array([SHARE * view.person_share() or 1.0 for view in self.views])
        return tuple((shares * _overlap(self.views)).tolist())

    @staticmethod
    def from_cameras(
        cameras: Sequence[Camera],
        area: tuple[float, float, float, float],
        *,
        cell: float = 0.25,
        margin: float = MARGIN,
        person: Person | None = None,
        density: float = DENSITY,
        variance: Sequence[float] | None = None,
        reduction: int | None = None,
        form: str = "released",
        observed: Sequence[ArrayLike | None] | None = None,
    ) -> Scene:
        """The scene of calibrated cameras.

        Parameters
        ----------
        cameras : see `mixfield.io.calibration` for files, or `mixfield.scene.camera`.
        area : x_min, y_min, x_max, y_max of the area of interest in metres.
        cell : side of a cell in metres.
        margin : metres of ground around the area that are modelled but not reported.
        person : height and width in metres.
        density : prior number of people per square metre; the prior of a cell is its area times this.
        variance : see `Scene`.
        form : see `Occupancy`; ``"local"`` for crowds, if silhouettes fill the boxes of people, as those of instance
            segmentation do and those of background subtraction do not.
        observed : for each camera None, or (height, width) where people can be seen, see `View`.
        reduction : see `Scene`; by default such that people are about 40 pixels tall in the view with the smallest.
        """
        ground, region = _grid(area, _arrays.positive("cell", cell), max(margin, 0.0))
        feet = ground.centres().reshape(-1, 2)
        hidden = [None] * len(cameras) if observed is None else observed
        if len(hidden) != len(cameras):
            raise MixfieldError(f"observed must hold one entry per camera ({len(cameras)}), got {len(hidden)}")
        views = tuple(
            _view(camera, feet, person or Person(), seen) for camera, seen in zip(cameras, hidden, strict=True)
        )
        _check_sight(views)
        height = min((view.person_height() for view in views if view.visible.any()), default=PERSON_HEIGHT)
        return Scene(
            ground=ground,
            views=views,
            prior=min(0.5, _arrays.positive("density", density) * cell**2),
            variance=None if variance is None else tuple(float(v) for v in variance),
            region=region,
            reduction=max(1, round(height / PERSON_HEIGHT)) if reduction is None else reduction,
            cameras=tuple(cameras),
            form=form,
        )

    @property
    def interest(self) -> NDArray[np.bool_]:
        """(rows, columns) cells of the area of interest."""
        return np.ones(self.ground.shape, bool) if self.region is None else np.asarray(self.region)

    def of_views(self, chosen: Sequence[int]) -> Scene:
        """The scene with some of its views."""
        return replace(
            self,
            views=tuple(self.views[c] for c in chosen),
            variance=None if self.variance is None else tuple(self.variance[c] for c in chosen),
            cameras=tuple(self.cameras[c] for c in chosen) if self.cameras else (),
        )


def _grid(area: Sequence[float], cell: float, margin: float) -> tuple[Ground, NDArray[np.bool_]]:
    """The ground of an area of interest with a margin, and the cells of the area."""
    left, bottom, right, top = (float(x) for x in area)
    if not (left < right and bottom < top):
        raise MixfieldError(f"area must be x_min, y_min, x_max, y_max with min below max, got {tuple(area)}")
    pad = int(np.ceil(margin / cell - 1e-9))
    rows, columns = (int(np.ceil(side / cell - 1e-9)) + 2 * pad for side in (top - bottom, right - left))
    ground = Ground((rows, columns), cell, (left - pad * cell, bottom - pad * cell))
    x, y = np.moveaxis(ground.centres(), -1, 0)
    return ground, (x >= left) & (x <= right) & (y >= bottom) & (y <= top)


def _view(camera: Camera, feet: NDArray[np.float64], person: Person, observed: ArrayLike | None) -> View:
    """The view of people at ``feet`` (n, 2), visible if enough of the silhouette lies in the image."""
    corners = camera.silhouettes(feet, person)
    size = np.array([camera.width, camera.height], np.float64)
    low, high = corners[:, :2], corners[:, 2:]
    seen = np.clip(high, 0, size) - np.clip(low, 0, size)
    with np.errstate(invalid="ignore"):
        share = seen.prod(1) / (high - low).prod(1)
        visible = np.isfinite(corners).all(1) & (share >= VISIBLE_SHARE)
    boxes = np.zeros((len(feet), 4), np.int32)
    boxes[visible] = np.rint(np.clip(corners[visible], -1e6, 1e6)).astype(np.int32)
    share = None if observed is None else _arrays.floats("observed", observed)
    return View(camera.width, camera.height, boxes, camera.name, share)


def _check_sight(views: Sequence[View]) -> None:
    """Refuse a camera that sees next to nothing of the ground: its calibration does not fit the area."""
    for c, view in enumerate(views):
        seen, n = int(view.visible.sum()), len(view.boxes)
        if seen < LEAST_GROUND * n:
            raise MixfieldError(
                f"camera {view.name or c} sees people at {seen} of {n} cells of the ground: check its calibration, its "
                "unit and the area, or leave it out"
            )


def _overlap(views: Sequence[View]) -> NDArray[np.float64]:
    """(C,) mean number of views, itself included, of the cells that are visible in each view.

    Calibration and synchronisation are never exact, and the errors of one camera contradict the others.  So the
    evidence of several cameras together is weighted about as much as that of one.
    """
    seen = np.array([view.visible for view in views], np.float64)
    return np.asarray((seen @ seen.sum(0)) / np.maximum(seen.sum(1), 1.0)).clip(1.0)
