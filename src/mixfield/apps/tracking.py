"""Track people: one mode per frame and the tracks through them (KSP*)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence, Sized
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mixfield import _arrays
from mixfield._progress import Progress, shown
from mixfield.apps.detections import Detections, detections_in
from mixfield.apps.track_rules import violations
from mixfield.apps.tracker import (
    CLIP,
    ENTRY_COST,
    MAX_SPEED,
    RECALL,
    RECORD,
    HasGround,
    Tracker,
    TrackSegment,
    cameras_of,
)
from mixfield.errors import MixfieldError
from mixfield.scene.camera import Camera
from mixfield.scene.ground import Ground
from mixfield.temporal.choice import Path
from mixfield.temporal.costs import Price, posterior_price
from mixfield.temporal.program import NODES
from mixfield.temporal.timegrid import Motion
from mixfield.temporal.windows import Windows

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

CELL, AROUND = 0.25, 1.0  # metres: cells of a ground around detections, and how far it goes beyond them


@dataclass(frozen=True, eq=False)
class Tracks:
    """Positions of people in each frame, with their identities.

    Attributes
    ----------
    table : one record for each person in each frame, by identity and frame: ``identity``, ``frame``, ``row``,
        ``column``, ``x`` and ``y`` of the centre of the cell, or of the detection there, in metres, and ``confidence``,
        the probability of presence in the chosen mode, which is low where a track continues through missed detections.
    chosen_modes : (T,) index into ``posteriors[t].modes``.
    weights : of the modes of each frame, (K,) each; 1 for a map and for detections.
    cost : of modes and tracks, in nats; the cheapest modes without tracks cost zero.
    bound : no other choice of modes and tracks costs less.
    ground, motion : the grid of cells, and how people may move on it.
    frame_rate : frames per second, if known.
    """

    table: NDArray[np.void]
    chosen_modes: Ints
    weights: tuple[Floats, ...]
    cost: float
    bound: float
    ground: Ground
    motion: Motion = field(repr=False)
    frame_rate: float | None = None

    def __repr__(self) -> str:
        return (
            f"Tracks({len(self.by_identity)} tracks in {self.frames} frames, "
            f"{len(self.table) / max(self.frames, 1):.1f} people per frame, cost={self.cost:.6g}, gap={self.gap:.3g} %)"
        )

    @property
    def gap(self) -> float:
        """Largest distance of the cost from the optimum, in per cent."""
        return 100.0 * (self.cost - self.bound) / max(abs(self.cost), abs(self.bound), 1e-12)

    @property
    def frames(self) -> int:
        """Length of the sequence."""
        return len(self.chosen_modes)

    @cached_property
    def by_identity(self) -> dict[int, NDArray[np.void]]:
        """The records of each track."""
        identities, start = np.unique(self.table["identity"], return_index=True)
        return dict(zip(identities.tolist(), np.split(self.table, start[1:]), strict=True)) if len(identities) else {}

    def positions(self) -> dict[int, Floats]:
        """(k, 2) x and y in metres of the people of each frame, as `mixfield.metrics` takes them."""
        places = np.stack([self.table["x"], self.table["y"]], axis=-1)
        return {t: places[self.table["frame"] == t] for t in range(self.frames)}

    def violations(self) -> list[str]:
        """One sentence for each constraint that a track violates (disjoint, connected, from door to door)."""
        columns = self.ground.shape[1]
        paths = {
            identity: Path(int(rows["frame"][0]), rows["row"] * columns + rows["column"])
            for identity, rows in self.by_identity.items()
        }
        gaps = [i for i, rows in self.by_identity.items() if (np.diff(rows["frame"]) != 1).any()]
        return [f"track {i} has a gap" for i in gaps] + self._too_fast() + violations(paths, self.motion, self.frames)

    def _too_fast(self) -> list[str]:
        """A sentence for each track with a step between cells that is longer in metres than people move."""
        reach = min(self.motion.reach, math.sqrt(2.0) * self.motion.radius)
        limit, found = max(reach, math.sqrt(2.0)) * self.ground.cell, []
        for identity, rows in self.by_identity.items():
            places = self.ground.centres()[rows["row"], rows["column"]]
            longest = float(np.linalg.norm(np.diff(places, axis=0), axis=-1).max(initial=0.0))
            if longest > limit * (1 + 1e-9):
                found.append(f"track {identity} moves {longest:.3g} m in a frame, more than {limit:.3g} m")
        return found

    def summary(self) -> dict[str, Any]:
        """Number, length, speed and confidence of tracks; speeds are per second or, without a frame rate, per frame."""
        speed, limit = self._speeds(), self.motion.longest * self.ground.cell * (self.frame_rate or 1.0)
        lengths = [len(rows) for rows in self.by_identity.values()]
        return {
            "frames": self.frames,
            "tracks": len(lengths),
            "people_per_frame": len(self.table) / max(self.frames, 1),
            "median_length": float(np.median(lengths)) if lengths else 0.0,
            "speed_unit": "m/s" if self.frame_rate else "m/frame",
            "median_speed": float(np.median(speed)) if len(speed) else 0.0,
            "fastest": float(speed.max(initial=0.0)),
            "steps_at_limit": float((speed >= limit * (1 - 1e-9)).mean()) if len(speed) else 0.0,
            "unseen": float((self.table["confidence"] < 0.5).mean()) if len(self.table) else 0.0,
            "frames_not_heaviest": int((self.chosen_modes > 0).sum()),
            "cost": self.cost,
            "bound": self.bound,
            "gap_percent": self.gap,
        }

    def _speeds(self) -> Floats:
        """Speed of each step of each track."""
        steps = [np.hypot(np.diff(rows["x"]), np.diff(rows["y"])) for rows in self.by_identity.values()]
        return np.concatenate([*steps, np.zeros(0)]) * (self.frame_rate or 1.0)


def track(
    frames: Iterable[Any] | Detections,
    scene: HasGround | Ground | None = None,
    *,
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
    windows: Windows = Windows(),  # noqa: B008 (frozen)
    nodes: int = NODES,
    time_limit: float = math.inf,
    progress: Progress = None,
) -> Tracks:
    """Choose one mode per frame, and join the people of successive frames into tracks.

    Parameters
    ----------
    frames : of each frame a posterior over the ground (rows, columns), label 1 for "occupied"; or a map (rows, columns)
        of probabilities, such as the heat map of a network, of which peaks count; or detections, boxes or points of the
        ground with scores, as arrays or as a detector returns them (see `mixfield.apps.detections.detections_in`).
        Any iterable, of which no more than a window is in memory; or `Detections` (`mixfield.io.read_detections`).
    scene : a ground, or anything with a ``ground``.  Boxes need its cameras; without a scene the ground is a rectangle
        around the detections.
    homography : (3, 3) from metres on the ground to pixels, or one per camera, for boxes without calibrated cameras.
    recall : probability that a person who is there is detected; a track pays for each frame in which it is not.  For
        maps and detections; posteriors have their own probabilities.
    frame_rate : frames per second; with it a person moves at most ``max_speed`` metres per second in any direction
        (or to one of the eight cells around, if these are farther), without it at most one cell per frame.
    step_deviation : sigma, the standard deviation in metres of a step along x and along y: a step over d metres costs
        d^2 / 2 sigma^2.  By default sqrt((0.9 / frame_rate)^2 + 0.2^2): people walk at 1.3 m/s, and are localised to
        0.2 m; without a frame rate, and with ``math.inf``, steps cost nothing.
    prior : probability of an occupied cell that posteriors contain, ``scene.prior`` for those of `mixfield.detect`.
        With it a step costs minus its log-probability, which replaces the prior of the cell, so that tracks continue
        where people hide each other for some frames.  By default each frame counts with its own prior, as in the
        article.
    doors : where tracks begin and end: ``"border"``, ``"anywhere"``, ``"nowhere"``, or (rows, columns) booleans.  In
        the first and the last frame they begin and end anywhere.  By default at the border if the first frame is a
        posterior, and anywhere if it is a map or detections: a detector loses people for many frames wherever they are.
    entry_cost : cost of each track in nats: minus the log-probability that a person enters.  0 in the article, where a
        track at a door can end and begin again for nothing; 45 in its authors' program.
    clip : probabilities are clipped to this distance from 0 and 1.
    price : cost of choosing a mode: `posterior_price`, or `printed_price` as in the paper.
    windows : how long sequences are cut.
    nodes : of branch and bound for each integer program of a window: a limit of work, so that tracks do not depend on
        the load of the machine.
    time_limit : seconds for each window, after which its best answer so far is used; by default none.
    progress : called with the number of frames solved; by default a bar appears on a terminal after two seconds, and
        with False nothing does.

    Examples
    --------
    >>> import numpy as np
    >>> import mixfield as mf
    >>> from mixfield.scene import Ground
    >>> q = np.full((3, 4, 4), 0.01)  # one person, who walks along a column
    >>> q[[0, 1, 2], [0, 1, 2], 1] = 0.9
    >>> frames = [mf.MixturePosterior((mf.Mode(np.stack([1 - p, p], -1), 0.0),)) for p in q]
    >>> tracks = mf.track(frames, Ground((4, 4), 0.5))
    >>> tracks.table["row"].tolist(), tracks.violations(), round(tracks.gap, 3)
    ([0, 1, 2], [], 0.0)
    """
    frames = frames if scene is not None else _in_memory(frames)
    tracker = Tracker(
        scene if scene is not None else _ground_around(frames, cameras_of(None, homography)),
        windows=windows,
        homography=homography,
        recall=recall,
        frame_rate=frame_rate,
        max_speed=max_speed,
        step_deviation=step_deviation,
        prior=prior,
        doors=doors,
        entry_cost=entry_cost,
        clip=clip,
        price=price,
        nodes=nodes,
        time_limit=time_limit,
    )
    segments = []
    with shown(progress, "frames", _length(frames)) as advance:
        for segment in _segments(frames, tracker):
            segments.append(segment)
            if advance is not None:
                advance(segment.stop)
    return _joined(segments, tracker)


def _segments(frames: Iterable[Any] | Detections, tracker: Tracker) -> Iterator[TrackSegment]:
    """The segments of all frames; `Detections` are divided."""
    each = (frames.of_frame(t) for t in frames.frames()) if isinstance(frames, Detections) else frames
    for frame in each:
        yield from tracker.update(frame)
    yield from tracker.finish()


def _length(frames: Iterable[Any] | Detections) -> int | None:
    """Number of frames; None for a generator."""
    if isinstance(frames, Detections):
        return len(frames.frames())
    return len(frames) if isinstance(frames, Sized) else None


def _in_memory(frames: Iterable[Any] | Detections) -> Any:
    return frames if isinstance(frames, Detections) else list(frames)


def _ground_around(frames: Any, cameras: Sequence[Camera]) -> Ground:
    """The cells around all detections."""
    parts = (
        [frames]
        if isinstance(frames, Detections)
        else [detections_in(f, t, len(cameras)) for t, f in enumerate(frames)]
    )
    points = np.concatenate([np.zeros((0, 2)), *(part.on_ground(cameras) for part in parts)])
    points = points[np.isfinite(points).all(1)]
    if len(points) == 0:
        raise MixfieldError("without detections on the ground, track needs a scene")
    low, high = np.floor(points.min(0) - AROUND), np.ceil(points.max(0) + AROUND)
    columns, rows = np.ceil((high - low) / CELL).astype(int).tolist()
    return Ground((rows, columns), CELL, (float(low[0]), float(low[1])))


def _joined(segments: Sequence[TrackSegment], tracker: Tracker) -> Tracks:
    """The tracks of all segments."""
    tables = np.concatenate([*(segment.table for segment in segments), np.zeros(0, RECORD)])
    table = np.sort(tables, order=("identity", "frame"))
    modes = np.concatenate([*(segment.chosen_modes for segment in segments), np.zeros(0, np.int64)])
    cost, bound = (float(sum(getattr(one, name) for one in segments)) for name in ("cost", "bound"))
    weights = tuple(one for segment in segments for one in segment.weights)
    answer = (_arrays.frozen(table), _arrays.frozen(modes), weights, cost, min(cost, bound))
    return Tracks(*answer, tracker.ground, tracker.motion, tracker.frame_rate)
