"""Scores of detections on the ground plane: MODA and MODP (Kasturi et al., PAMI 2009).

In each frame detections and true positions are matched one to one by the Hungarian method; pairs farther apart than the
threshold are not matched.  Frames are independent.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mixfield import _arrays
from mixfield.errors import MixfieldError

Floats = NDArray[np.float64]
Frames = Mapping[Any, ArrayLike] | Sequence[ArrayLike]


@dataclass(frozen=True)
class DetectionScore:
    """Counts over one or more frames, and the scores that follow from them.

    Attributes
    ----------
    truths, matches, false_positives : counts.
    closeness : sum of 1 - distance / threshold over the matches.
    """

    truths: int
    matches: int
    false_positives: int
    closeness: float

    @property
    def misses(self) -> int:
        return self.truths - self.matches

    @property
    def moda(self) -> float:
        """1 - (misses + false positives) / truths; it may be negative."""
        return 1.0 - (self.misses + self.false_positives) / self.truths if self.truths else float("nan")

    @property
    def modp(self) -> float:
        """Mean of 1 - distance / threshold over the matches."""
        return self.closeness / self.matches if self.matches else float("nan")

    @property
    def recall(self) -> float:
        return self.matches / self.truths if self.truths else float("nan")

    @property
    def precision(self) -> float:
        found = self.matches + self.false_positives
        return self.matches / found if found else float("nan")

    def __add__(self, other: DetectionScore) -> DetectionScore:
        return DetectionScore(
            self.truths + other.truths,
            self.matches + other.matches,
            self.false_positives + other.false_positives,
            self.closeness + other.closeness,
        )


def detection_scores(
    truth: Frames, detections: Frames, threshold: float, *, strict: bool = False, only_detected: bool = False
) -> list[DetectionScore]:
    """One score per frame, in the order of ``truth``; their sum is the score of the sequence.

    Parameters
    ----------
    truth, detections : true and detected positions (k, 2) of each frame: mappings from frames, or sequences of the same
        length.  A frame that is missing in one mapping is empty.
    threshold : largest distance of a match, in the unit of the positions.
    strict : do not match pairs at exactly the threshold, as MVDet's evaluator.
    only_detected : leave out frames without detections, as MVDet's Python evaluator; their misses do not count.
    """
    _arrays.positive("threshold", threshold)
    pairs = _paired(truth, detections)
    return [_frame(t, d, threshold, strict) for t, d in pairs if len(d) or not only_detected]


def moda(
    truth: Frames, detections: Frames, threshold: float, *, strict: bool = False, only_detected: bool = False
) -> float:
    """Multiple-object detection accuracy; see `detection_scores` for the parameters.

    Examples
    --------
    >>> moda([[(0.0, 0.0), (3.0, 0.0)]], [[(0.2, 0.0), (9.0, 9.0)]], threshold=1.0)
    0.0
    """
    return total(detection_scores(truth, detections, threshold, strict=strict, only_detected=only_detected)).moda


def modp(
    truth: Frames, detections: Frames, threshold: float, *, strict: bool = False, only_detected: bool = False
) -> float:
    """Multiple-object detection precision, the mean closeness of matches from 0 to 1; parameters as for `moda`."""
    return total(detection_scores(truth, detections, threshold, strict=strict, only_detected=only_detected)).modp


def total(scores: Iterable[DetectionScore]) -> DetectionScore:
    """The score of a sequence from those of its frames."""
    return sum(scores, DetectionScore(0, 0, 0, 0.0))


def best_detections(candidates: Sequence[Sequence[DetectionScore]]) -> list[DetectionScore]:
    """The oracle of DivMBest: in each frame the candidate with the fewest errors, the first of equals.

    ``candidates[k][t]`` is the score of candidate k in frame t.  An oracle improves with any variation: report the
    oracle of trivial variants beside it.
    """
    return [min(frame, key=lambda s: s.misses + s.false_positives) for frame in zip(*candidates, strict=True)]


def bootstrap(
    scores: Sequence[DetectionScore], *, level: float = 0.95, draws: int = 2000, block: int = 10, rng: int = 0
) -> tuple[float, float]:
    """Confidence interval of MODA, by resampling blocks of ``block`` frames: neighbouring frames are dependent."""
    counts = np.array([[s.misses + s.false_positives, s.truths] for s in scores], np.float64)
    if len(counts) == 0:
        raise MixfieldError("scores must hold at least one frame")
    starts = range(0, len(counts), block)
    blocks = np.array([counts[s : s + block].sum(0) for s in starts])
    chosen = _arrays.generator(rng).integers(0, len(blocks), (draws, len(blocks)))
    errors, truths = blocks[chosen].sum(1).T
    low, high = np.quantile(1.0 - errors / np.maximum(truths, 1.0), [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def _paired(truth: Frames, detections: Frames) -> list[tuple[Floats, Floats]]:
    if isinstance(truth, Mapping) != isinstance(detections, Mapping):
        raise MixfieldError("truth and detections must both be mappings from frames, or both sequences of frames")
    if isinstance(truth, Mapping) and isinstance(detections, Mapping):
        frames = [*truth, *(frame for frame in detections if frame not in truth)]
        return [
            (_points("truth", truth.get(f, ()), f), _points("detections", detections.get(f, ()), f)) for f in frames
        ]
    if len(truth) != len(detections):
        raise MixfieldError(
            f"truth and detections must have the same number of frames, got {len(truth)} and {len(detections)}"
        )
    return [(_points("truth", truth[f], f), _points("detections", detections[f], f)) for f in range(len(truth))]


def _points(name: str, value: ArrayLike, frame: Hashable) -> Floats:
    points = np.asarray(value, np.float64)
    if points.size == 0:
        return np.empty((0, 2))
    if points.ndim != 2 or points.shape[1] != 2 or not np.isfinite(points).all():
        raise MixfieldError(f"{name} of frame {frame!r} must be finite positions (k, 2), got shape {points.shape}")
    return points


def _frame(truth: Floats, found: Floats, threshold: float, strict: bool) -> DetectionScore:
    """Most matches, at the smallest total distance: a forbidden pair costs more than all allowed pairs together."""
    from scipy.optimize import linear_sum_assignment

    distance = np.linalg.norm(truth[:, None] - found[None], axis=-1)
    allowed = distance < threshold if strict else distance <= threshold
    forbidden = threshold * (min(distance.shape) + 1.0)
    rows, columns = linear_sum_assignment(np.where(allowed, distance, forbidden))
    kept = allowed[rows, columns]
    closeness = 1.0 - distance[rows, columns][kept] / threshold
    return DetectionScore(len(truth), int(kept.sum()), len(found) - int(kept.sum()), float(closeness.sum()))
