"""Segment a video: one mode per frame, such that labels are consistent in time (section 7.4 of the paper).

Errors of single frames rarely persist.  A mode that agrees with the labels of the same points in the next frame is more
likely right; the best sequence of modes is a shortest path in a trellis.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sized
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mixfield import _arrays
from mixfield._progress import Progress, shown
from mixfield.apps.matching import Flow, Matcher, Picture
from mixfield.errors import MixfieldError
from mixfield.mixture.posterior import MixturePosterior
from mixfield.temporal.trellis import Trellis

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

SMALLEST_WEIGHT = 1e-6  # weights of modes are clipped, so that costs are finite


@dataclass(frozen=True)
class Consistency:
    """How the modes of successive frames are compared.

    Attributes
    ----------
    matcher : finds point correspondences.
    stiffness : cost in nats if all matched points change their label.
    caution : cost in nats of modes other than mean field.
    least : share of matched points below which the chain is broken (a scene cut).
    lag : frames between a frame and the choice of its mode; None chooses at the end.
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
    labels : (T, H, W) of the chosen modes; -1 where a frame is missing.
    chosen_modes : (T,) index of the chosen mode of each frame; -1 where a frame is missing.
    matched : (T,) share of points matched with the frame before; NaN for the first frame and after a missing one.
    starts : frames where a chain begins.
    """

    labels: Ints
    chosen_modes: Ints
    matched: Floats
    starts: tuple[int, ...]

    def __repr__(self) -> str:
        other = int((self.chosen_modes > 0).sum())
        return f"VideoSegmentation(labels {self.labels.shape}, another mode than the heaviest in {other} frames)"


@dataclass
class ModePath:
    """Chooses the modes of a stream of frames, in constant memory.

    Attributes
    ----------
    consistency : how successive frames are compared.
    matched : share of points of the last frame that were matched with the frame before, NaN without one.
    starts : whether a chain begins at the last frame.

    Examples
    --------
    >>> import numpy as np, mixfield as mf
    >>> from mixfield.apps import Consistency, ModePath
    >>> path = ModePath(Consistency(lag=0))
    >>> path.lag
    0
    """

    consistency: Consistency = field(default_factory=Consistency)
    matched: float = field(default=float("nan"), init=False)
    starts: bool = field(default=True, init=False)
    _trellis: Trellis = field(init=False, repr=False)
    _last: tuple[Picture, Floats] | None = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        self._trellis = Trellis(self.consistency.lag)

    @property
    def lag(self) -> int | None:
        """Frames between a frame and the choice of its mode."""
        return self.consistency.lag

    def advance(self, frame: Picture, posterior: MixturePosterior, weights: ArrayLike | None = None) -> list[int]:
        """Add a frame; returns the modes of the frames that are decided by it, oldest first.

        Parameters
        ----------
        frame : (H, W) or (H, W, channels).
        posterior : its modes.
        weights : (K,) probabilities of its modes, by default ``posterior.weights``.
        """
        if np.shape(frame)[:2] != posterior.shape:
            raise MixfieldError(f"the frame must have the shape {posterior.shape} of its modes, got {np.shape(frame)}")
        q = np.stack([mode.marginals.reshape(-1, mode.marginals.shape[-1]) for mode in posterior.modes])
        step = None
        self.matched = float("nan")
        if self._last is not None:
            self.matched, step = self._transitions(*self._last, frame, q)
        self.starts = step is None
        self._last = frame, q
        return self._trellis.advance(self._costs(posterior, weights), step)

    def _costs(self, posterior: MixturePosterior, weights: ArrayLike | None) -> Floats:
        """(K,) -log weight of each mode, plus ``caution`` but for mean field."""
        given = posterior.weights if weights is None else _arrays.floats("weights", weights)
        _arrays.check_shape("weights", given, (len(posterior.modes),), "= one weight per mode")
        if not given.min() >= 0:
            raise MixfieldError(f"weights must not be negative, got {given.min():g}")
        other = np.arange(len(given)) != posterior.root_mode
        return np.asarray(self.consistency.caution * other - np.log(np.maximum(given, SMALLEST_WEIGHT)))

    def _transitions(self, image: Picture, before: Floats, frame: Picture, q: Floats) -> tuple[float, Floats | None]:
        """Share of matched points, and (K before, K) costs of label changes there, None if the chain is broken."""
        if np.shape(image) != np.shape(frame) or before.shape[1:] != q.shape[1:]:
            raise MixfieldError(
                f"frames must have one shape and one number of labels, got {np.shape(image)} with "
                f"{before.shape[2]} and then {np.shape(frame)} with {q.shape[2]}"
            )
        matches = self.consistency.matcher.match(image, frame)
        if matches.share < self.consistency.least:
            return matches.share, None
        changed = changes(before[:, matches.first], q[:, matches.second])
        return matches.share, self.consistency.stiffness * changed

    def finish(self) -> list[int]:
        """Decide the remaining frames: the stream ends, or a frame is missing."""
        self._last = None
        return self._trellis.finish()


def changes(before: NDArray[np.floating[Any]], after: NDArray[np.floating[Any]]) -> Floats:
    """(K, M) expected share of points whose label changes, between K modes (K, p, L) and M modes (M, p, L)."""
    points = before.shape[1]
    agreement = before.reshape(len(before), -1).astype(np.float32) @ after.reshape(len(after), -1).astype(np.float32).T
    return 1.0 - np.asarray(agreement, np.float64) / max(1, points)


def segment_video(
    frames: Iterable[Picture | None],
    posteriors: Iterable[MixturePosterior | None],
    *,
    consistency: Consistency | None = None,
    weights: Iterable[ArrayLike | None] | None = None,
    progress: Progress = None,
) -> VideoSegmentation:
    """Choose the modes of a video that agree best with each other and with the evidence.

    Parameters
    ----------
    frames : images (H, W) or (H, W, channels) as for `segment`, in order; None where one is missing.
    posteriors : the modes of each frame, from `segment`; None where a frame is missing.
    consistency : how successive frames are compared.
    weights : of the modes of each frame; by default ``posterior.weights``.
    progress : called with the number of frames done; by default a bar appears on a terminal after two seconds, and with
        False nothing does.

    Notes
    -----
    All may be generators: only two frames and the labels of undecided frames are in memory.
    """
    path = ModePath(consistency or Consistency())
    decided: list[Decided] = []
    sources = (frames, posteriors) if weights is None else (frames, posteriors, weights)
    with shown(progress, "frames", len(frames) if isinstance(frames, Sized) else None) as advance:
        for one in follow(_together(*sources), path):
            decided.append(one)
            if advance is not None:
                advance(len(decided))
    label_maps = [one.labels for one in decided if one.labels is not None]
    if not label_maps:
        raise MixfieldError("frames must hold at least one image, got none")
    missing = np.full_like(label_maps[0], -1)
    return VideoSegmentation(
        np.stack([missing if one.labels is None else one.labels for one in decided]),
        np.array([one.mode for one in decided]),
        np.array([one.matched for one in decided]),
        tuple(t for t, one in enumerate(decided) if one.starts),
    )


@dataclass(frozen=True, eq=False)
class Decided:
    """A frame whose mode is chosen; for a missing frame ``mode`` is -1 and ``labels`` is None."""

    mode: int
    labels: Ints | None
    matched: float
    starts: bool


def follow(
    frames: Iterable[tuple[Picture | None, MixturePosterior | None, ArrayLike | None]], path: ModePath
) -> Iterator[Decided]:
    """Frames in order, each as soon as its mode is decided.

    Parameters
    ----------
    frames : image, modes and their probabilities (None for ``posterior.weights``) of each frame.
    path : chooses the modes.
    """
    waiting: deque[tuple[Ints, float, bool]] = deque()

    def release(modes: Iterable[int]) -> Iterator[Decided]:
        for mode in modes:
            labelings, matched, starts = waiting.popleft()
            yield Decided(mode, labelings[mode], matched, starts)

    for image, posterior, weights in frames:
        if image is None or posterior is None:
            yield from release(path.finish())
            yield Decided(-1, None, float("nan"), starts=False)
            continue
        decided = path.advance(image, posterior, weights)
        waiting.append((posterior.labelings(), path.matched, path.starts))
        yield from release(decided)
    yield from release(path.finish())


def _together(*sources: Iterable[Any]) -> Iterator[Any]:
    """One entry of each source at a time; they must have the same length."""
    for number, entries in enumerate(zip_longest(*sources, fillvalue=_END)):
        if any(entry is _END for entry in entries):
            raise MixfieldError(f"frames, posteriors and weights must be as many; one of them ends after {number}")
        yield entries if len(entries) == 3 else (*entries, None)


_END: Any = object()
