"""Track people in a stream of frames: tracks of the past, with a lag, in constant memory."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mixfield import _arrays
from mixfield.apps.cell_evidence import CellEvidence, EvidenceStream
from mixfield.errors import MixfieldError
from mixfield.scene.camera import Camera, FromHomography
from mixfield.scene.ground import Ground
from mixfield.scene.scene import Scene
from mixfield.temporal.costs import Price, frame_costs, posterior_price
from mixfield.temporal.program import NODES
from mixfield.temporal.timegrid import Motion
from mixfield.temporal.windows import Limits, Segment, Windows, WindowStream

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MAX_SPEED = 2.5  # metres per second
WALKING = 0.9  # metres per second, standard deviation along an axis of people who walk at 1.3 m/s in any direction
LOCALISATION = 0.2  # metres, standard deviation of the error of a position from frame to frame
ENTRY_COST = 5.0  # nats
DOORS = ("border", "anywhere")  # if the first frame is a posterior, and if it is a map or detections
RECALL = 0.9
CLIP = 1e-4  # tolerance of a mean field of people: probabilities closer to 0 and 1 are not known
LAG = 100  # frames

RECORD = np.dtype(
    [
        ("identity", "i8"),
        ("frame", "i8"),
        ("row", "i8"),
        ("column", "i8"),
        ("x", "f8"),
        ("y", "f8"),
        ("confidence", "f8"),
    ]
)


class HasGround(Protocol):
    """Anything with a ground, such as a `Scene`."""

    @property
    def ground(self) -> Ground: ...


@dataclass(frozen=True, eq=False)
class TrackSegment:
    """The tracks of some successive frames that no later frame changes.

    Attributes
    ----------
    first : its first frame.
    table : records as of `Tracks`; a person keeps the identity from segment to segment.
    chosen_modes : (frames,) index into the modes of each posterior.
    weights : of the modes of each frame, (K,) each.
    cost, bound : its share of the cost and of the lower bound of the whole.
    """

    first: int
    table: NDArray[np.void] = field(repr=False)
    chosen_modes: Ints = field(repr=False)
    weights: tuple[Floats, ...] = field(repr=False)
    cost: float
    bound: float

    @property
    def stop(self) -> int:
        """The first frame after it."""
        return self.first + len(self.chosen_modes)


class Tracker:
    """Tracks of a stream of frames, the same as those of `mixfield.track` with the windows of the same lag.

    Parameters
    ----------
    scene : a ground, or anything with a ``ground``; boxes need its cameras.
    lag : frames after which a frame is final, those of maps and detections 7 frames later.  Memory grows with the lag,
        not with the length of the stream.
    windows : in place of those of the lag.
    options : the other parameters are those of `mixfield.track`.

    Examples
    --------
    >>> import numpy as np
    >>> import mixfield as mf
    >>> from mixfield.scene import Ground
    >>> tracker = mf.Tracker(Ground((4, 4), 0.5), lag=4)
    >>> segments = []
    >>> for t in range(20):  # a detector finds one person, who stands still
    ...     segments += tracker.update(np.array([[1.2, 0.7, 0.9]]))
    >>> segments += tracker.finish()
    >>> [(segment.first, segment.stop) for segment in segments][:3], sum(len(s.table) for s in segments)
    ([(0, 3), (3, 6), (6, 9)], 20)
    """

    def __init__(
        self,
        scene: HasGround | Ground,
        *,
        lag: int = LAG,
        windows: Windows | None = None,
        homography: ArrayLike | None = None,
        recall: float = RECALL,
        frame_rate: float | None = None,
        max_speed: float = MAX_SPEED,
        step_deviation: float | None = None,
        prior: float | None = None,
        doors: str | ArrayLike | None = None,
        entry_cost: float = ENTRY_COST,
        clip: float = CLIP,
        price: Price = posterior_price,
        nodes: int = NODES,
        time_limit: float = math.inf,
    ) -> None:
        if not 0 < recall < 1:
            raise MixfieldError(f"recall must be a probability between 0 and 1, got {recall!r}")
        if not 0 < clip < 0.5:
            raise MixfieldError(f"clip must lie between 0 and 0.5, got {clip!r}")
        if not time_limit > 0:
            raise MixfieldError(f"time_limit must be a positive number of seconds, got {time_limit!r}")
        self.ground, self.frame_rate = scene if isinstance(scene, Ground) else scene.ground, frame_rate
        step = (frame_rate, max_speed, step_deviation, prior)
        places = DOORS if doors is None else (doors, doors)
        self._motions = [_motion(self.ground, *step, _doors(one, self.ground), entry_cost) for one in places]
        self.motion = self._motions[0]
        self._clip, self._price = clip, price
        self._evidence = EvidenceStream(self.ground, cameras_of(scene, homography), recall)
        self._windows, self._limits = windows or Windows.of_lag(lag), Limits(nodes, time_limit)
        self._choice: WindowStream | None = None  # begins with the first frame
        self._open: deque[CellEvidence] = deque()

    def update(self, frame: Any) -> list[TrackSegment]:
        """The segments that one more frame completes; most frames complete none.

        ``frame`` is a posterior, a map or detections, see `mixfield.track`.
        """
        return [segment for one in self._evidence.update(frame) for segment in self._add(one)]

    def finish(self) -> list[TrackSegment]:
        """The segments of the frames that are not final yet; nothing can be added any more."""
        waiting = [segment for one in self._evidence.finish() for segment in self._add(one)]
        last = [] if self._choice is None else self._choice.finish()
        return waiting + [self._finished(segment) for segment in last]

    def _add(self, one: CellEvidence) -> list[TrackSegment]:
        self._open.append(one)
        if self._choice is None:
            self.motion = self._motions[one.detected]
            self._choice = WindowStream(self.motion, windows=self._windows, limits=self._limits)
        costs = frame_costs(one.weights, one.presence, clip=self._clip, price=self._price)
        return [self._finished(segment) for segment in self._choice.update(costs)]

    def _finished(self, segment: Segment) -> TrackSegment:
        frames = [self._open.popleft() for _ in segment.modes]
        table = _records(segment, frames, self.ground)
        weights = tuple(one.weights for one in frames)
        return TrackSegment(segment.first, table, segment.modes, weights, segment.cost, segment.bound)


def cameras_of(scene: HasGround | Ground | None, homography: ArrayLike | None) -> Sequence[Camera]:
    """The cameras of the scene, or those of homographies."""
    if homography is None:
        return scene.cameras if isinstance(scene, Scene) else ()
    matrices = _arrays.floats("homography", homography)
    if matrices.shape[-2:] != (3, 3) or matrices.ndim not in (2, 3):
        raise MixfieldError(f"homography must have shape (3, 3), or (cameras, 3, 3), got {matrices.shape}")
    return [FromHomography(1, 1, matrix) for matrix in matrices.reshape(-1, 3, 3)]


def _motion(
    ground: Ground,
    frame_rate: float | None,
    max_speed: float,
    step_deviation: float | None,
    prior: float | None,
    doors: NDArray[np.bool_],
    entry_cost: float,
) -> Motion:
    """The motion, its lengths in cells."""
    if frame_rate is None:
        sigma = math.inf if step_deviation is None else step_deviation
        return Motion(ground.shape, 1, doors, entry_cost, sigma=sigma / ground.cell, prior=prior)
    rate = _arrays.positive("frame_rate", frame_rate)
    reach = _arrays.positive("max_speed", max_speed) / rate / ground.cell
    sigma = math.hypot(WALKING / rate, LOCALISATION) if step_deviation is None else step_deviation
    radius = max(1, math.floor(reach + 1e-9))
    return Motion(ground.shape, radius, doors, entry_cost, reach, sigma / ground.cell, prior)


def _doors(doors: str | ArrayLike, ground: Ground) -> NDArray[np.bool_]:
    if not isinstance(doors, str):
        return np.asarray(doors)
    named = {
        "border": ground.border(),
        "anywhere": np.ones(ground.shape, bool),
        "nowhere": np.zeros(ground.shape, bool),
    }
    if doors not in named:
        raise MixfieldError(f"doors must be one of {', '.join(named)} or an array of True and False, got {doors!r}")
    return named[doors]


def _records(segment: Segment, frames: Sequence[CellEvidence], ground: Ground) -> NDArray[np.void]:
    """Records of the tracks of a segment, whose frames are ``frames``."""
    centres, parts = ground.centres().reshape(-1, 2), []
    exact = [dict(zip(one.cells.tolist(), one.points.tolist(), strict=True)) for one in frames]
    for identity, path in segment.paths.items():
        cells, within = path.cells.tolist(), (path.frames - segment.first).tolist()
        part = np.zeros(len(cells), RECORD)
        part["identity"], part["frame"] = identity, path.frames
        part["row"], part["column"] = np.divmod(path.cells, ground.shape[1])
        part["x"], part["y"] = np.array([exact[t].get(i, centres[i]) for t, i in zip(within, cells, strict=True)]).T
        part["confidence"] = [frames[t].presence[segment.modes[t], i] for t, i in zip(within, cells, strict=True)]
        parts.append(part)
    return np.concatenate([*parts, np.zeros(0, RECORD)])
