"""Track people: one mode per frame and the tracks through them (KSP*)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sized
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice, tee
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mixfield import _arrays
from mixfield._progress import Progress, shown
from mixfield.errors import MixfieldError
from mixfield.mixture.posterior import MixturePosterior
from mixfield.scene.ground import Ground
from mixfield.temporal.choice import Path
from mixfield.temporal.costs import Price, frame_costs, posterior_price
from mixfield.temporal.timegrid import Motion
from mixfield.temporal.validator import violations
from mixfield.temporal.windows import Segment, Windows, choose_in_windows

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

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
class Tracks:
    """Positions of people in each frame, with their identities.

    Attributes
    ----------
    table : one record for each person in each frame, by identity and frame: ``identity``, ``frame``, ``row``,
        ``column``, ``x`` and ``y`` of the centre of the cell in metres, and ``confidence``, the probability of presence
        in the chosen mode, which is low where a track continues through missed detections.
    chosen_modes : (T,) index into ``posteriors[t].modes``.
    cost : of modes and tracks, in nats; the cheapest modes without tracks cost zero.
    bound : no other choice of modes and tracks costs less.
    ground, motion : the grid of cells, and how people may move on it.
    frame_rate : frames per second, if known.
    """

    table: NDArray[np.void]
    chosen_modes: Ints
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
        return [f"track {i} has a gap" for i in gaps] + violations(paths, self.motion, self.frames)

    def summary(self) -> dict[str, Any]:
        """Number, length, speed and confidence of tracks; speeds are per second or, without a frame rate, per frame."""
        speed, limit = self._speeds(), self.motion.radius * self.ground.cell * (self.frame_rate or 1.0)
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
    posteriors: Iterable[MixturePosterior],
    scene: HasGround | Ground,
    *,
    frame_rate: float | None = None,
    max_speed: float = 2.5,
    doors: str | ArrayLike = "border",
    entry_cost: float = 5.0,
    clip: float = 1e-6,
    price: Price = posterior_price,
    windows: Windows = Windows(),  # noqa: B008 (frozen)
    time_limit: float = 60.0,
    progress: Progress = None,
) -> Tracks:
    """Choose one mode per frame, and join the people of successive frames into tracks.

    Parameters
    ----------
    posteriors : one per frame over the ground (rows, columns), label 1 for "occupied"; any iterable, of which no more
        than a window is in memory.
    scene : a ground, or anything with a ``ground``.
    frame_rate : frames per second; with it a person moves at most ``max_speed`` metres per second, without it at most
        one cell per frame.
    doors : where tracks begin and end: ``"border"``, ``"anywhere"``, ``"nowhere"``, or (rows, columns) booleans.  In
        the first and the last frame they begin and end anywhere.
    entry_cost : cost of each track in nats: minus the log-probability that a person enters.  0 in the article, where a
        track at a door can end and begin again for nothing; 45 in its authors' program.
    clip : probabilities are clipped to this distance from 0 and 1.
    price : cost of choosing a mode: `posterior_price`, or `printed_price` as in the paper.
    windows : how long sequences are cut.
    time_limit : seconds for each window, after which its best answer so far is used.
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
    ground = scene if isinstance(scene, Ground) else scene.ground
    if not 0 < clip < 0.5:
        raise MixfieldError(f"clip must lie between 0 and 0.5, got {clip!r}")
    seconds = _arrays.positive("time_limit", time_limit)
    motion = Motion(ground.shape, _radius(ground, frame_rate, max_speed), _doors(doors, ground), entry_cost)
    for_costs, for_confidence = tee(_presence(posteriors, ground))
    frames = (frame_costs(weights, q, clip=clip, price=price) for weights, q in for_costs)
    segments, tables = [], []
    with shown(progress, "frames", _length(posteriors)) as advance:
        for segment in choose_in_windows(frames, motion, windows=windows, time_limit=seconds, progress=advance):
            solved = islice(for_confidence, len(segment.modes))
            presence = [q[k] for (_, q), k in zip(solved, segment.modes.tolist(), strict=True)]
            segments.append(segment)
            tables.append(_records(segment, np.stack(presence), ground))
    return _joined(segments, tables, ground, motion, frame_rate)


def _length(posteriors: Iterable[MixturePosterior]) -> int | None:
    """Number of frames; None for a generator."""
    return len(posteriors) if isinstance(posteriors, Sized) else None


def _radius(ground: Ground, frame_rate: float | None, max_speed: float) -> int:
    """Cells that a person moves at most per frame."""
    if frame_rate is None:
        return 1
    step = _arrays.positive("max_speed", max_speed) / _arrays.positive("frame_rate", frame_rate)
    return max(1, math.ceil(step / ground.cell - 1e-9))


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


def _presence(posteriors: Iterable[MixturePosterior], ground: Ground) -> Iterator[tuple[Floats, Floats]]:
    """Weights (K,) and probabilities of presence (K, n) of each frame."""
    for t, posterior in enumerate(posteriors):
        if not isinstance(posterior, MixturePosterior):
            raise MixfieldError(
                f"posteriors must hold one MixturePosterior per frame, got {type(posterior).__name__} for frame {t}"
            )
        for mode in posterior.modes:
            _arrays.check_shape(
                f"posterior of frame {t}", mode.marginals, (*ground.shape, 2), "= (rows, columns, 2) of the ground"
            )
            if np.isnan(mode.marginals).any():
                raise MixfieldError(f"posterior of frame {t} must not contain NaN")
        yield posterior.weights, np.stack([mode.marginals[..., 1].ravel() for mode in posterior.modes])


def _records(segment: Segment, presence: Floats, ground: Ground) -> NDArray[np.void]:
    """Records of the tracks of a segment; ``presence`` (frames, n) are the probabilities of its chosen modes."""
    centres = ground.centres().reshape(-1, 2)
    parts = []
    for identity, path in segment.paths.items():
        part = np.zeros(len(path.cells), RECORD)
        part["identity"], part["frame"] = identity, path.frames
        part["row"], part["column"] = np.divmod(path.cells, ground.shape[1])
        part["x"], part["y"] = centres[path.cells].T
        part["confidence"] = presence[path.frames - segment.first, path.cells]
        parts.append(part)
    return np.concatenate([*parts, np.zeros(0, RECORD)])


def _joined(
    segments: list[Segment],
    tables: list[NDArray[np.void]],
    ground: Ground,
    motion: Motion,
    frame_rate: float | None,
) -> Tracks:
    """The tracks of all segments."""
    table = np.sort(np.concatenate([*tables, np.zeros(0, RECORD)]), order=("identity", "frame"))
    modes = np.concatenate([*(segment.modes for segment in segments), np.zeros(0, np.int64)])
    cost, bound = float(sum(one.cost for one in segments)), float(sum(one.bound for one in segments))
    return Tracks(_arrays.frozen(table), _arrays.frozen(modes), cost, min(cost, bound), ground, motion, frame_rate)
