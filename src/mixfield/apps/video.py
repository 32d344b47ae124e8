"""Segment a video: one mode per frame, such that labels follow the points they belong to (section 7.4 of the paper).

Mistakes of single frames rarely last.  A mode that labels the points of a frame as the next frame labels the same
points is likelier to be right, whatever its weight; the best sequence is a shortest path.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mixfield import _arrays
from mixfield.apps.matching import Flow, Matcher, Picture
from mixfield.errors import MixfieldError
from mixfield.mixture.posterior import MixturePosterior
from mixfield.temporal.trellis import Trellis

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

LEAST = 1e-6  # smallest weight of a mode: none is impossible


@dataclass(frozen=True)
class Consistency:
    """How the modes of successive frames are compared.

    Attributes
    ----------
    matcher : which pixels of two frames belong together.
    stiffness : nats that it costs if every matched point changes its label.
    caution : nats by which another mode than mean field must be better to be chosen.
    least : share of points that must find a partner, else the chain is broken: a cut of the film.
    lag : frames to wait before a mode is chosen; None waits for the end.
    """

    matcher: Matcher = field(default_factory=Flow)
    stiffness: float = 40.0
    caution: float = 1.5
    least: float = 0.02
    lag: int | None = None

    def __post_init__(self) -> None:
        _arrays.positive("stiffness", self.stiffness)
        if not abs(self.caution) < np.inf:
            raise MixfieldError(f"caution must be a finite number of nats, got {self.caution}")
        if not 0 <= self.least <= 1:
            raise MixfieldError(f"least must be a share of points in 0..1, got {self.least}")
        if self.lag is not None:
            _arrays.at_least("lag", self.lag, 0)


@dataclass(frozen=True, eq=False)
class VideoSegmentation:
    """One segmentation per frame.

    Attributes
    ----------
    labels : (T, H, W) of the chosen modes; -1 where a frame was missing.
    chosen_modes : (T,) which of each frame's modes it is; -1 where a frame was missing.
    matched : (T,) share of points that found a partner in the frame before; NaN at the first and after a missing one.
    starts : frames where a chain of frames begins.
    """

    labels: Ints
    chosen_modes: Ints
    matched: Floats
    starts: tuple[int, ...]


@dataclass
class ModePath:
    """Chooses the modes of a stream of frames; memory does not grow with their number.

    Examples
    --------
    >>> import numpy as np, mixfield as mf
    >>> from mixfield.apps import Consistency, ModePath
    >>> path = ModePath(Consistency(lag=0))
    >>> path.lag
    0
    """

    how: Consistency = field(default_factory=Consistency)
    matched: float = field(default=float("nan"), init=False)
    starts: bool = field(default=True, init=False)
    _trellis: Trellis = field(init=False, repr=False)
    _last: tuple[Picture, Floats] | None = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        self._trellis = Trellis(self.how.lag)

    @property
    def lag(self) -> int | None:
        """Frames between a frame and its decision."""
        return self.how.lag

    def advance(self, frame: Picture, posterior: MixturePosterior, weights: ArrayLike | None = None) -> list[int]:
        """Take the next frame; returns the modes of the frames that are decided now, oldest first.

        ``weights`` (K,) are the probabilities of its modes, by default ``posterior.weights``.  Afterwards ``matched``
        and ``starts`` tell how the frame hangs together with the one before.
        """
        if np.shape(frame)[:2] != posterior.shape:
            raise MixfieldError(f"the frame must have the shape {posterior.shape} of its modes, got {np.shape(frame)}")
        q = np.stack([mode.marginals.reshape(-1, mode.marginals.shape[-1]) for mode in posterior.modes])
        step = None
        self.matched = float("nan")
        if self._last is not None:
            image, before = self._last
            if np.shape(image) != np.shape(frame) or before.shape[1:] != q.shape[1:]:
                raise MixfieldError(
                    f"frames must have one shape and one number of labels, got {np.shape(image)} with "
                    f"{before.shape[2]} and then {np.shape(frame)} with {q.shape[2]}"
                )
            found = self.how.matcher.match(image, frame)
            self.matched = found.share
            if found.share >= self.how.least:
                step = self.how.stiffness * changes(before[:, found.first], q[:, found.second])
        self.starts = step is None
        self._last = frame, q
        shares = posterior.weights if weights is None else _arrays.floats("weights", weights)
        _arrays.check_shape("weights", shares, (len(posterior.modes),), "= one weight per mode")
        if not shares.min() >= 0:
            raise MixfieldError(f"weights must not be negative, got {shares.min():g}")
        other = np.arange(len(shares)) != posterior.root_mode
        return self._trellis.advance(self.how.caution * other - np.log(np.maximum(shares, LEAST)), step)

    def finish(self) -> list[int]:
        """The modes of the frames that are left: the stream ends, or a frame is missing."""
        self._last = None
        return self._trellis.finish()


def changes(before: NDArray[np.floating[Any]], after: NDArray[np.floating[Any]]) -> Floats:
    """(K, M) share of points that change their label from each of K to each of M modes, (K, p, L) and (M, p, L)."""
    points = before.shape[1]
    agreement = before.reshape(len(before), -1).astype(np.float32) @ after.reshape(len(after), -1).astype(np.float32).T
    return 1.0 - np.asarray(agreement, np.float64) / max(1, points)


def segment_video(
    frames: Iterable[Picture | None],
    posteriors: Iterable[MixturePosterior | None],
    *,
    consistency: Consistency | None = None,
    weights: Iterable[ArrayLike | None] | None = None,
    progress: Callable[[int], None] | None = None,
) -> VideoSegmentation:
    """The segmentations of a video that agree best with each other and with the evidence.

    Parameters
    ----------
    frames : images (H, W) or (H, W, channels) as `segment` takes them, in order; None where one is missing.
    posteriors : the modes of each frame, from `segment`; None where a frame is missing.
    consistency : how successive frames are compared.
    weights : of the modes of each frame, such as ``posterior.calibrated(...)``; by default ``posterior.weights``.
    progress : called with the number of frames done.

    Notes
    -----
    Both may be generators: only two frames are held at a time, and the labels of those not yet decided.
    """
    path = ModePath(consistency or Consistency())
    decided: list[Decided] = []
    sources = (frames, posteriors) if weights is None else (frames, posteriors, weights)
    for one in follow(_together(*sources), path):
        decided.append(one)
        if progress is not None:
            progress(len(decided))
    seen = [one.labels for one in decided if one.labels is not None]
    if not seen:
        raise MixfieldError("frames must hold at least one image, got none")
    return VideoSegmentation(
        np.stack([np.full_like(seen[0], -1) if one.labels is None else one.labels for one in decided]),
        np.array([one.mode for one in decided]),
        np.array([one.matched for one in decided]),
        tuple(t for t, one in enumerate(decided) if one.starts),
    )


@dataclass(frozen=True, eq=False)
class Decided:
    """A frame whose mode is chosen; of one that was missing, ``mode`` is -1 and there are no labels."""

    mode: int
    labels: Ints | None
    matched: float
    starts: bool


def follow(
    scenes: Iterable[tuple[Picture | None, MixturePosterior | None, ArrayLike | None]], path: ModePath
) -> Iterator[Decided]:
    """Frames in order, each as soon as its mode is decided.

    ``scenes`` holds the image, the modes and their probabilities (None: ``posterior.weights``) of each frame.
    """
    waiting: deque[tuple[Ints, float, bool]] = deque()

    def release(modes: Iterable[int]) -> Iterator[Decided]:
        for mode in modes:
            labelings, matched, starts = waiting.popleft()
            yield Decided(mode, labelings[mode], matched, starts)

    for frame, posterior, weights in scenes:
        if frame is None or posterior is None:
            yield from release(path.finish())
            yield Decided(-1, None, float("nan"), starts=False)
            continue
        decided = path.advance(frame, posterior, weights)
        waiting.append((posterior.labelings(), path.matched, path.starts))
        yield from release(decided)
    yield from release(path.finish())


def _together(*sources: Iterable[Any]) -> Iterator[Any]:
    """One entry of each source at a time; they must be as many."""
    for number, entries in enumerate(zip_longest(*sources, fillvalue=_END)):
        if any(entry is _END for entry in entries):
            raise MixfieldError(f"frames, posteriors and weights must be as many; one of them ends after {number}")
        yield entries if len(entries) == 3 else (*entries, None)


_END: Any = object()
