"""What an annotator does: strokes, choices among alternatives, answers to questions.

An annotation is the list of its actions; everything else is computed from them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mixfield.interactive.corrections import Correction
from mixfield.interactive.region_candidates import LastAction

Ints = NDArray[np.int64]
Int32s = NDArray[np.int32]
Float32s = NDArray[np.float32]
Floats = NDArray[np.float64]
Labels = NDArray[Any]  # uint8 or uint16, see `label_type`

ERASED = -1  # label of a stroke that removes others
CHOICE = 1.0  # nats that a choice adds to each label of the chosen alternative, where the alternatives differ
ANSWER = 4.0  # nats that an answer adds to its label


@dataclass(frozen=True)
class Stroke:
    """A line through points with a round pen, or a disc if there is one point.

    Attributes
    ----------
    points : ``(x, y)`` in pixels of the image, x to the right and y down.
    label : number of the label, or `ERASED`.
    radius : of the pen, in pixels.
    shown : (h, w) labels on the canvas that the annotator saw before a click; None for a line, or if none were shown.
    """

    points: tuple[tuple[float, float], ...]
    label: int
    radius: float
    shown: Labels | None = field(default=None, compare=False)

    def place(self, shape: tuple[int, ...], step: int) -> tuple[int, int]:
        """Row and column of the first point on a canvas (h, w)."""
        x, y = self.points[0]
        row, column = (int(np.clip(at // step, 0, size - 1)) for at, size in zip((y, x), shape, strict=True))
        return row, column

    def paint(self, strokes: NDArray[np.integer]) -> None:
        """Draw into a label map (H, W)."""
        line = np.asarray(self.points, np.float64)
        for start, end in zip(line, line[1:] if len(line) > 1 else line, strict=False):
            self._paint_segment(start, end, strokes)

    def _paint_segment(self, start: Floats, end: Floats, strokes: NDArray[np.integer]) -> None:
        height, width = strokes.shape
        low = np.maximum(np.floor(np.minimum(start, end) - self.radius - 1), 0).astype(int)
        high = np.minimum(np.ceil(np.maximum(start, end) + self.radius + 2), (width, height)).astype(int)
        if (low >= high).any():
            return
        window = strokes[low[1] : high[1], low[0] : high[0]]
        y, x = np.ogrid[low[1] : high[1], low[0] : high[0]]
        window[_squared_distance(x, y, start, end) <= self.radius**2] = self.label


def _squared_distance(x: Ints, y: Ints, start: Floats, end: Floats) -> Floats:
    """Squared distance of pixels to a segment."""
    (ax, ay), (dx, dy) = start, end - start
    length = dx * dx + dy * dy
    along = np.clip(((x - ax) * dx + (y - ay) * dy) / length, 0.0, 1.0) if length > 0 else 0.0
    return np.asarray((x - ax - along * dx) ** 2 + (y - ay - along * dy) ** 2)


@dataclass(frozen=True, eq=False)
class Choice:
    """An alternative that was chosen.

    Attributes
    ----------
    labels : (H, W) labels of the alternative.
    differ : (h, w) pixels of the canvas on which the alternatives were not the same.
    reduced : (h, w) labels of the alternative on the canvas.
    """

    labels: Labels
    differ: NDArray[np.bool_]
    reduced: Ints

    def vote(self, votes: Float32s) -> None:
        """Add to the votes (h, w, L)."""
        rows, columns = np.nonzero(self.differ)
        votes[rows, columns, self.reduced[rows, columns]] += CHOICE


@dataclass(frozen=True, eq=False)
class Answer:
    """The answer to a question.

    Attributes
    ----------
    region : (h, w) pixels of the canvas.
    label : that the region has.
    shown : (h, w) labels on the canvas before.
    """

    region: NDArray[np.bool_]
    label: int
    shown: Labels

    def vote(self, votes: Float32s) -> None:
        """Add to the votes (h, w, L)."""
        votes[self.region, self.label] += ANSWER


Action = Stroke | Choice | Answer


def label_type(n_labels: int) -> np.dtype[Any]:
    """The smallest type of label maps."""
    return np.dtype(np.uint8 if n_labels <= 256 else np.uint16)


def painted(actions: Sequence[Action], shape: tuple[int, int]) -> Int32s:
    """(H, W) labels of the strokes, -1 where there are none; a later stroke covers earlier ones."""
    strokes = np.full(shape, -1, np.int32)
    for action in actions:
        if isinstance(action, Stroke):
            action.paint(strokes)
    return strokes


def voted(actions: Sequence[Action], shape: tuple[int, int], n_labels: int) -> Float32s | None:
    """(h, w, L) nats of choices and answers; None if there are none."""
    given = [action for action in actions if not isinstance(action, Stroke)]
    if not given:
        return None
    votes = np.zeros((*shape, n_labels), np.float32)
    for action in given:
        action.vote(votes)
    return votes


def answered(actions: Sequence[Action], strokes: Ints) -> Int32s:
    """(h, w) labels of the regions of answers, -1 elsewhere.

    A later answer covers earlier ones; an answer no longer counts if a stroke in its region has another label.

    Parameters
    ----------
    actions : of the annotator.
    strokes : (h, w) labels of the strokes on the canvas, -1 where there are none.
    """
    labels = np.full(strokes.shape, -1, np.int32)
    for action in actions:
        if isinstance(action, Answer):
            known = strokes[action.region]
            if not ((known >= 0) & (known != action.label)).any():
                labels[action.region] = action.label
    return labels


def canvas_shapes(actions: Sequence[Action]) -> set[tuple[int, ...]]:
    """Heights and widths of the maps on the canvas that actions have."""
    maps = [action.differ if isinstance(action, Choice) else action.shown for action in actions]
    return {one.shape for one in maps if one is not None}


def corrections(actions: Sequence[Action], strokes: Ints, step: int) -> tuple[Correction, ...]:
    """The clicks on segmentations that were shown and that are still there.

    Parameters
    ----------
    actions : of the annotator.
    strokes : (h, w) labels of the strokes on the canvas, -1 where there are none.
    step : pixels of the image for each pixel of the canvas, in each direction.
    """
    found = []
    for action in actions:
        if isinstance(action, Stroke) and action.shown is not None:
            row, column = action.place(strokes.shape, step)
            if strokes[row, column] == action.label:
                found.append(Correction(row, column, action.label, action.shown))
    return tuple(found)


def last_action(actions: Sequence[Action], strokes: Ints, step: int) -> LastAction | None:
    """What a click or an answer has just changed of a segmentation that was shown; None after other actions."""
    if actions and isinstance(answer := actions[-1], Answer):
        return LastAction(answer.shown, answer.region, answer.label)
    latest = corrections(actions[-1:], strokes, step)
    if not latest:
        return None
    place = np.zeros(strokes.shape, bool)
    place[latest[0].row, latest[0].column] = True
    return LastAction(latest[0].shown, place, latest[0].label)
