"""People through time: one mode per frame, and the tracks through them (KSP*)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mixfield import _arrays
from mixfield.errors import MixfieldError
from mixfield.mixture.posterior import MixturePosterior
from mixfield.scene.ground import Ground
from mixfield.temporal.choice import Path
from mixfield.temporal.costs import FrameCosts, Price, frame_costs, posterior_price
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
    """Anything that stands on a ground, such as a `Scene`."""

    @property
    def ground(self) -> Ground: ...


@dataclass(frozen=True, eq=False)
class Tracks:
    """Who was where, in which frame, and how sure that is.

    Attributes
    ----------
    table : one record for each person in each frame, by identity and frame: ``identity``, ``frame``, ``row``,
        ``column``, ``x`` and ``y`` of the middle of the cell in metres, and ``confidence``, the probability of presence
        in the chosen mode.  A track passes cells of low confidence where nobody was seen for a while.
    chosen_modes : (T,) index into ``posteriors[t].modes``.
    cost : of modes and tracks, in nats; zero for nobody.
    bound : no other choice of modes and tracks costs less.
    ground, motion : where the tracks live, and how people may move.
    frame_rate : frames per second, if known.
    """

    table: NDArray[np.void]
    chosen_modes: Ints
    cost: float
    bound: float
    ground: Ground
    motion: Motion = field(repr=False)
    frame_rate: float | None = None

    @property
    def gap(self) -> float:
        """How far the cost can be above the best, in per cent of it."""
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
        """One sentence for each rule that a track breaks (disjoint, connected, from door to door), or none."""
        columns = self.ground.shape[1]
        paths = {
            identity: Path(int(rows["frame"][0]), rows["row"] * columns + rows["column"])
            for identity, rows in self.by_identity.items()
        }
        gaps = [i for i, rows in self.by_identity.items() if (np.diff(rows["frame"]) != 1).any()]
        return [f"track {i} has a gap" for i in gaps] + violations(paths, self.motion, self.frames)

    def summary(self) -> dict[str, Any]:
        """How many tracks, how long, how fast, how sure; speeds per second or, without a frame rate, per frame."""
        steps = [
            np.hypot(np.diff(rows["x"]), np.diff(rows["y"])) * (self.frame_rate or 1.0)
            for rows in self.by_identity.values()
        ]
        speed = np.concatenate([*steps, np.zeros(0)])
        limit = self.motion.radius * self.ground.cell * (self.frame_rate or 1.0)
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
    progress: Callable[[int], object] | None = None,
) -> Tracks:
    """Join the posteriors of successive frames into tracks, choosing one mode in each frame.

    Parameters
    ----------
    posteriors : one per frame over the ground (rows, columns), label 1 for "somebody stands here"; any iterable, of
        which no more than a window is held at a time.
    scene : anything with a ``ground``, or a ground.
    frame_rate : frames per second; with it a person moves at most ``max_speed`` metres per second, without it at most
        one cell per frame.
    doors : where people come and go: ``"border"``, ``"anywhere"``, ``"nowhere"``, or (rows, columns) True at doors.  In
        the first and the last frame they may be anywhere.
    entry_cost : price of each track in nats, which it must earn: minus the log-probability that somebody enters.  0 in
        the article, where a track at a door may as well end and begin again; 45 in its authors' program.
    clip : probabilities are kept at least this far from 0 and 1.
    price : of choosing a mode: `posterior_price`, or `printed_price` as the paper has it.
    windows : how long sequences are cut.
    time_limit : seconds for each window, after which its best answer so far is taken.
    progress : is told how many frames are settled.

    Examples
    --------
    >>> import mixfield as mf
    >>> walk = mf.datasets.doubtful_walk(12, shape=(10, 10), people=2, rng=3)
    >>> tracks = mf.track(walk.posteriors, walk.ground)
    >>> len(tracks.by_identity), tracks.violations(), round(tracks.gap, 3)
    (2, [], 0.0)
    """
    ground = scene if isinstance(scene, Ground) else scene.ground
    if not 0 < clip < 0.5:
        raise MixfieldError(f"clip must lie between 0 and 0.5, got {clip!r}")
    radius = 1
    if frame_rate is not None:
        step = _arrays.positive("max_speed", max_speed) / _arrays.positive("frame_rate", frame_rate)
        radius = max(1, math.ceil(step / ground.cell - 1e-9))
    motion = Motion(ground.shape, radius, _doors(doors, ground), entry_cost)
    confidence = _Confidence()
    frames = (
        confidence.keep(presence, frame_costs(weights, presence, clip=clip, price=price))
        for weights, presence in _presence(posteriors, ground)
    )
    seconds = _arrays.positive("time_limit", time_limit)
    solved = choose_in_windows(frames, motion, windows=windows, time_limit=seconds, progress=progress)
    segments = [(segment, confidence.of(segment)) for segment in solved]
    return _tracks(segments, ground, motion, frame_rate)


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


class _Confidence:
    """Remembers the probabilities of presence of the frames that no window has settled yet."""

    def __init__(self) -> None:
        self._held: list[Floats] = []

    def keep(self, presence: Floats, costs: FrameCosts) -> FrameCosts:
        self._held.append(presence)
        return costs

    def of(self, segment: Segment) -> dict[int, Floats]:
        """Confidence along each track of a segment, whose frames are then forgotten."""
        settled, self._held = self._held[: len(segment.modes)], self._held[len(segment.modes) :]
        chosen = np.stack([q[k] for q, k in zip(settled, segment.modes.tolist(), strict=True)])
        return {i: chosen[path.frames - segment.first, path.cells] for i, path in segment.paths.items()}


def _tracks(
    segments: list[tuple[Segment, dict[int, Floats]]], ground: Ground, motion: Motion, frame_rate: float | None
) -> Tracks:
    centres = ground.centres().reshape(-1, 2)
    parts = []
    for segment, confidence in segments:
        for identity, path in segment.paths.items():
            part = np.zeros(len(path.cells), RECORD)
            part["identity"], part["frame"] = identity, path.frames
            part["row"], part["column"] = np.divmod(path.cells, ground.shape[1])
            part["x"], part["y"] = centres[path.cells].T
            part["confidence"] = confidence[identity]
            parts.append(part)
    table = np.sort(np.concatenate([*parts, np.zeros(0, RECORD)]), order=("identity", "frame"))
    modes = np.concatenate([*(segment.modes for segment, _ in segments), np.zeros(0, np.int64)])
    cost, bound = (float(sum(getattr(segment, name) for segment, _ in segments)) for name in ("cost", "bound"))
    return Tracks(_arrays.frozen(table), _arrays.frozen(modes), cost, min(cost, bound), ground, motion, frame_rate)
