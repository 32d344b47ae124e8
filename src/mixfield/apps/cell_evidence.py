"""Evidence for people at the cells of a ground: from posteriors, probability maps and detections.

A person is at one cell.  A map, such as the heat map of a network, has high values at many cells around a person, and
two cameras detect the same person twice; each would carry several tracks.  So a map keeps one peak within the width of
a person, and detections nearer to each other than that are merged.  Cells near detections of the frames before and
after get the probability of a person that is there and not detected, all others nothing: everywhere it would let tracks
wander, and take minutes.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mixfield import _arrays
from mixfield.apps.detections import Detections, detections_in
from mixfield.errors import MixfieldError
from mixfield.mixture.posterior import MixturePosterior
from mixfield.scene.camera import Camera
from mixfield.scene.ground import Ground

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

WIDTH = 0.5  # metres that two people keep from each other at least
LOWEST = 1e-6  # probability whose logarithm is taken for zero
FAINTEST = 0.05  # value of a map below which there is no peak
GAP, NEAR = 7, 1.0  # frames and metres from a detection within which a person may be missed


@dataclass(frozen=True, eq=False)
class CellEvidence:
    """The evidence of one frame.

    Attributes
    ----------
    weights : (K,) of the modes.
    presence : (K, n) probability of a person at each cell in each mode.
    cells, points : (k,) cells of detections, and (k, 2) where in them.
    detected : whether it comes from a map or from detections, in which people may be missed.
    """

    weights: Floats
    presence: Floats
    cells: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    points: Floats = field(default_factory=lambda: np.zeros((0, 2)))
    detected: bool = False


class EvidenceStream:
    """The evidence of frames that come one by one.

    Maps and detections wait for `GAP` more frames: 1 - ``recall`` is added at the cells near detections that are at
    most so many frames away.

    Parameters
    ----------
    ground : the cells.
    cameras : through which boxes become points of the ground.
    recall : probability that a person is detected in a frame.
    """

    def __init__(self, ground: Ground, cameras: Sequence[Camera], recall: float) -> None:
        self._ground, self._cameras, self._recall = ground, cameras, recall
        self._disk, self._frames = _disk(NEAR / ground.cell), 0
        self._near: deque[NDArray[np.bool_]] = deque(maxlen=2 * GAP + 1)
        self._waiting: deque[tuple[int, CellEvidence]] = deque()

    def update(self, frame: Any) -> list[CellEvidence]:
        """The evidence that is complete with one more frame.

        ``frame`` is a `MixturePosterior` over the ground, a map (rows, columns) of probabilities, or detections (see
        `detections_in`).
        """
        one = _of_frame(frame, self._frames, self._ground, self._cameras)
        self._waiting.append((self._frames, one))
        return self._advance(one.cells)

    def finish(self) -> list[CellEvidence]:
        """The evidence of the frames that still wait."""
        return [one for _ in range(GAP) for one in self._advance(np.zeros(0, np.int64))]

    def _advance(self, cells: Ints) -> list[CellEvidence]:
        """Go to the next frame, with detections at ``cells``."""
        t, self._frames, complete = self._frames, self._frames + 1, []
        self._near.append(_near(cells, self._disk, self._ground))
        # posteriors need not wait; when frame t - GAP is filled, ``near`` holds the frames from t - 2 GAP to t
        while self._waiting and (not self._waiting[0][1].detected or self._waiting[0][0] + GAP <= t):
            complete.append(_filled(self._waiting.popleft()[1], self._near, self._recall))
        return complete


def _of_frame(frame: Any, t: int, ground: Ground, cameras: Sequence[Camera]) -> CellEvidence:
    if isinstance(frame, MixturePosterior):
        return _of_posterior(frame, ground, t)
    if _is_map(frame, ground):
        return of_map(np.asarray(_arrays.as_numpy(f"map of frame {t}", frame), np.float64), ground, t)
    return of_detections(_detections(frame, t, ground, len(cameras)), ground, cameras)


def _filled(one: CellEvidence, near: Iterable[NDArray[np.bool_]], recall: float) -> CellEvidence:
    if not one.detected:
        return one
    missed = np.where(np.any(list(near), axis=0), 1.0 - recall, 0.0)
    return replace(one, presence=np.maximum(one.presence, missed))


def _disk(radius: float) -> Ints:
    """(k, 2) rows and columns of the steps to the cells within ``radius``."""
    along = np.arange(-int(radius), int(radius) + 1)
    row, column = np.nonzero(np.hypot(along[:, None], along) <= radius)
    return np.stack([along[row], along[column]], axis=-1)


def _near(cells: Ints, disk: Ints, ground: Ground) -> NDArray[np.bool_]:
    """(n,) cells that a step of the ``disk`` leads to from one of the ``cells``."""
    near = np.zeros(ground.n, bool)
    rows, columns = (at[:, None] + step for at, step in zip(np.divmod(cells, ground.shape[1]), disk.T, strict=True))
    inside = (rows >= 0) & (rows < ground.shape[0]) & (columns >= 0) & (columns < ground.shape[1])
    near[(rows * ground.shape[1] + columns)[inside]] = True
    return near


def _detections(frame: Any, t: int, ground: Ground, n_cameras: int) -> Detections:
    try:
        return detections_in(frame, t, n_cameras)
    except MixfieldError as error:
        raise MixfieldError(
            f"frame {t} must be a MixturePosterior, a map of shape {ground.shape} as the ground, or detections: {error}"
        ) from None


def _is_map(frame: Any, ground: Ground) -> bool:
    return hasattr(frame, "shape") and tuple(frame.shape) == ground.shape


def _of_posterior(posterior: MixturePosterior, ground: Ground, t: int) -> CellEvidence:
    for mode in posterior.modes:
        _arrays.check_shape(
            f"posterior of frame {t}", mode.marginals, (*ground.shape, 2), "= (rows, columns, 2) of the ground"
        )
        if np.isnan(mode.marginals).any():
            raise MixfieldError(f"posterior of frame {t} must not contain NaN")
    presence = np.stack([mode.marginals[..., 1].ravel() for mode in posterior.modes])
    return CellEvidence(posterior.weights, presence)


def of_map(probability: Floats, ground: Ground, t: int = 0) -> CellEvidence:
    """The evidence of the peaks of a map (rows, columns)."""
    if not ((probability >= 0) & (probability <= 1)).all():
        raise MixfieldError(f"map of frame {t} must hold probabilities in [0, 1]; a network's logits need a sigmoid")
    cells = peaks(probability, WIDTH / ground.cell)
    steps, heights = summits(probability, cells)
    points = ground.centres().reshape(-1, 2)[cells] + ground.cell * steps[:, ::-1]
    return CellEvidence(np.ones(1), _presence(cells, heights, ground), cells, points, detected=True)


def summits(values: Floats, cells: Ints) -> tuple[Floats, Floats]:
    """(k, 2) rows and columns from the peak ``cells`` to where a blob is highest, and (k,) how high it is there.

    A parabola through the logarithms of three cells along each axis: exact for a Gaussian, whose highest cell is up to
    a fifth lower than its summit at cells of its own width.
    """
    logs = np.pad(np.log(np.maximum(values, LOWEST)), 1, mode="edge")
    row, column = (at + 1 for at in np.divmod(cells, values.shape[1]))
    here, steps = logs[row, column], []
    height = here.copy()
    for down, right in ((1, 0), (0, 1)):
        before, after = logs[row - down, column - right], logs[row + down, column + right]
        bend = np.maximum(2.0 * here - before - after, LOWEST)
        step = np.clip((after - before) / (2.0 * bend), -0.5, 0.5)
        steps.append(step)
        height += 0.25 * (after - before) * step
    return np.stack(steps, axis=-1), np.minimum(np.exp(height), 1.0)


def of_detections(found: Detections, ground: Ground, cameras: Sequence[Camera]) -> CellEvidence:
    """The evidence of the detections of one frame; those beyond the ground are left out."""
    points, scores = _people(found.on_ground(cameras), found.scores, found.camera)
    column, row = np.floor((points - ground.origin) / ground.cell).astype(np.int64).T
    inside = (row >= 0) & (row < ground.shape[0]) & (column >= 0) & (column < ground.shape[1])
    cells = (row * ground.shape[1] + column)[inside]
    return CellEvidence(np.ones(1), _presence(cells, scores[inside], ground), cells, points[inside], detected=True)


def _presence(cells: Ints, scores: Floats, ground: Ground) -> Floats:
    """(1, n) scores at cells, zero elsewhere."""
    presence = np.zeros((1, ground.n))
    np.maximum.at(presence[0], cells, scores)
    return presence


def peaks(values: Floats, radius: float) -> Ints:
    """(k,) cells, in C order, of a map whose value is the highest within ``radius`` cells; of equals, the first."""
    from scipy.ndimage import maximum_filter

    reach = int(radius)
    steps = np.arange(-reach, reach + 1)
    disk = np.hypot(steps[:, None], steps) <= radius
    highest = maximum_filter(values, footprint=disk, mode="constant", cval=-np.inf)
    row, column = np.nonzero((values >= highest) & (values >= FAINTEST))
    kept: list[int] = []
    for k in range(len(row)):  # plateaus
        if all(np.hypot(row[k] - row[j], column[k] - column[j]) > radius for j in kept):
            kept.append(k)
    return np.asarray(row[kept] * values.shape[1] + column[kept], np.int64)


def _people(points: Floats, scores: Floats, camera: Ints) -> tuple[Floats, Floats]:
    """(k, 2) positions and (k,) scores of people, each from the best detection of every camera within `WIDTH`.

    The best detection comes first.  Another camera's detection confirms it: 1 - (1 - p)(1 - p'), at the mean position.
    Others of the same camera are repetitions.
    """
    seen = np.isfinite(points).all(1)
    order = np.flatnonzero(seen)[np.argsort(-scores[seen], kind="stable")]
    left, places, certainty = np.ones(len(points), bool), [], []
    for k in order:
        if not left[k]:
            continue
        near = order[left[order] & (np.linalg.norm(points[order] - points[k], axis=-1) < WIDTH)]
        left[near] = False
        _, first = np.unique(camera[near], return_index=True)
        chosen = near[first]
        places.append(np.average(points[chosen], axis=0, weights=np.maximum(scores[chosen], FAINTEST)))
        certainty.append(1.0 - np.prod(1.0 - scores[chosen]))
    return np.array(places).reshape(-1, 2), np.array(certainty)
