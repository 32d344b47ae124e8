"""Segment a video: one mode per frame, such that labels are consistent in time (section 7.4 of the paper).

Errors of single frames rarely persist.  A mode whose regions have the colours and the shapes that their labels have in
the other frames is more likely right; the best sequence of modes is a shortest path in a trellis.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sized
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mixfield._progress import Progress, shown
from mixfield.apps.mode_path import Choice, Consistency, ModePath
from mixfield.errors import MixfieldError
from mixfield.mixture.posterior import MixturePosterior

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Kept = TypeVar("Kept")


@dataclass(frozen=True, eq=False)
class VideoSegmentation:
    """One segmentation per frame.

    Attributes
    ----------
    labels : (T, H, W) of the chosen modes; -1 where a frame is missing.
    chosen_modes : (T,) index of the chosen mode of each frame; -1 where a frame is missing.
    probabilities : (T,) of the chosen modes, given the frames around; NaN where a frame is missing.
    common : (T,) share of colours in common with the frame before; NaN for the first frame and after a missing one.
    starts : frames where a chain begins.
    """

    labels: Ints
    chosen_modes: Ints
    probabilities: Floats
    common: Floats
    starts: tuple[int, ...]

    def __repr__(self) -> str:
        other = int((self.chosen_modes > 0).sum())
        return f"VideoSegmentation(labels {self.labels.shape}, another mode than the first in {other} frames)"


def segment_video(
    frames: Iterable[ArrayLike | None],
    posteriors: Iterable[MixturePosterior | None],
    *,
    consistency: Consistency | None = None,
    scores: Iterable[ArrayLike | None] | None = None,
    progress: Progress = None,
) -> VideoSegmentation:
    """Choose the modes of a video that agree best with each other and with the evidence.

    Parameters
    ----------
    frames : images (H, W) or (H, W, channels) as for `segment`, in order; None where one is missing.
    posteriors : the modes of each frame, from `segment`; None where a frame is missing.
    consistency : what speaks for a mode.
    scores : (H, W, L) probabilities of the network for each frame; by default those of calibrated posteriors, as
        `segment` makes them with a model.  Without both, only colours and shapes decide.
    progress : called with the number of frames done; by default a bar appears on a terminal after two seconds, and with
        False nothing does.

    Notes
    -----
    All may be generators: only the labels and the colour histograms of undecided frames are in memory.
    """
    path = ModePath(consistency or Consistency())
    decided: list[Decided] = []
    sources = (frames, posteriors) if scores is None else (frames, posteriors, scores)
    with shown(progress, "frames", len(frames) if isinstance(frames, Sized) else None) as advance:
        for one, _ in follow(((*row, None) for row in _together(*sources)), path):
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
        np.array([one.probability for one in decided]),
        np.array([one.common for one in decided]),
        tuple(t for t, one in enumerate(decided) if one.starts),
    )


@dataclass(frozen=True, eq=False)
class Decided:
    """A frame whose mode is chosen; for a missing frame ``choice`` and ``labels`` are None."""

    choice: Choice | None
    labels: Ints | None
    common: float
    starts: bool

    @property
    def mode(self) -> int:
        """The chosen mode, -1 for a missing frame."""
        return -1 if self.choice is None else self.choice.mode

    @property
    def probability(self) -> float:
        """Of the chosen mode, NaN for a missing frame."""
        return float("nan") if self.choice is None else float(self.choice.probabilities[self.choice.mode])


def follow(
    frames: Iterable[tuple[ArrayLike | None, MixturePosterior | None, ArrayLike | None, Kept]], path: ModePath
) -> Iterator[tuple[Decided, Kept]]:
    """Frames in order, each as soon as its mode is decided.

    Parameters
    ----------
    frames : image, modes and scores (may be None) of each frame, and what is kept of it until its mode is decided:
        anything, which comes back with the decision.
    path : chooses the modes.
    """
    waiting: deque[tuple[Ints, float, bool, Kept]] = deque()

    def release(choices: Iterable[Choice]) -> Iterator[tuple[Decided, Kept]]:
        for choice in choices:
            labelings, common, starts, kept = waiting.popleft()
            yield Decided(choice, labelings[choice.mode], common, starts), kept

    for number, (image, posterior, scores, kept) in enumerate(frames):
        if image is None or posterior is None:
            yield from release(path.finish())
            yield Decided(None, None, float("nan"), starts=False), kept
            continue
        try:
            decided = path.advance(image, posterior, scores)
        except MixfieldError as error:
            raise MixfieldError(f"frame {number}: {error}") from None
        waiting.append((posterior.labelings(), path.common, path.starts, kept))
        yield from release(decided)
    yield from release(path.finish())


def _together(*sources: Iterable[Any]) -> Iterator[Any]:
    """One entry of each source at a time; they must have the same length."""
    for number, entries in enumerate(zip_longest(*sources, fillvalue=_END)):
        if any(entry is _END for entry in entries):
            raise MixfieldError(f"frames, posteriors and scores must be as many; one of them ends after {number}")
        yield entries if len(entries) == 3 else (*entries, None)


_END: Any = object()
