"""Interactive segmentation: strokes, clicks, choices among alternatives and answers to questions."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mixfield import _arrays
from mixfield.apps import annotation_file
from mixfield.apps.annotation_state import AnnotationState
from mixfield.apps.annotation_state import Suggestion as Suggestion
from mixfield.apps.evidence import probabilities
from mixfield.errors import FileFormatError, MixfieldError
from mixfield.interactive.annotation_actions import ERASED, Action, Answer, Labels, Stroke, canvas_shapes, label_type
from mixfield.interactive.canvas import Canvas
from mixfield.interactive.region_question import RegionQuestion, best_candidate

Bools = NDArray[np.bool_]

ALTERNATIVES = 4
REMEMBERED = 2  # states of the annotation that are kept, for `undo`
CLICK_RADIUS = 3.0  # pixels
FARTHEST = 1e6  # pixels, of a point from the image


class Annotation:
    """The segmentation of one image during its annotation.

    The labels follow from the actions so far: the same actions give the same labels, and `undo` restores what was
    there before.  Pixels of a stroke have its label in every segmentation; choices and answers are strong evidence that
    later strokes overrule.

    Parameters
    ----------
    image : (H, W) or (H, W, channels), as for `mixfield.segment`.
    labels : names of the labels, two or more; of two, the first is background, for which the border of the image
        speaks.
    scores : (H, W, L) probabilities of a network or a label map, as for `mixfield.segment`; None without.
    logits : the scores are logits or log-probabilities.

    Examples
    --------
    >>> import numpy as np, mixfield as mf
    >>> image = np.zeros((40, 60), np.uint8)
    >>> image[10:30, 20:40] = 200
    >>> annotation = mf.Annotation(image, ["background", "square"])
    >>> annotation.click(30, 20, "square")
    >>> int(annotation.labels().sum())
    400
    """

    def __init__(
        self, image: ArrayLike, labels: Sequence[str], scores: ArrayLike | None = None, *, logits: bool = False
    ) -> None:
        self.names = _checked_names(labels)
        self._canvas = Canvas.of(image)
        probs = None if scores is None else self._probabilities(scores, logits)
        self._initial = _initial_labels(probs, self.shape, len(self.names))
        if probs is not None:
            self._canvas = self._canvas.refined(self._canvas.reduce_map(self._initial))
        self._scores = None if probs is None else self._canvas.reduce(probs)
        self._actions: list[Action] = []
        self._states: dict[int, AnnotationState] = {}  # by number of actions
        self._shown_after = 0  # number of actions before the last call of `labels` or `suggest`

    def _probabilities(self, scores: ArrayLike, logits: bool) -> NDArray[np.float32]:
        probs = probabilities(scores, self.shape, logits=logits, n_labels=_label_count(scores, len(self.names)))
        _arrays.check_shape("scores", probs, (*self.shape, len(self.names)), "= image and number of labels")
        return np.asarray(probs / probs.sum(-1, keepdims=True))

    @property
    def shape(self) -> tuple[int, int]:
        """Height and width of the image."""
        return self._canvas.plane

    @property
    def actions(self) -> tuple[Action, ...]:
        """What was done so far, oldest first."""
        return tuple(self._actions)

    # ------------------------------------------------------------------ what the annotator does

    def add_stroke(self, points: ArrayLike, label: str | int | None, *, radius: float = CLICK_RADIUS) -> None:
        """Draw a line.

        Parameters
        ----------
        points : (k, 2) corners ``(x, y)`` in pixels, x to the right and y down.
        label : name or number of the label; None erases strokes.
        radius : of the pen, in pixels.
        """
        corners = _arrays.floats("points", points, largest=FARTHEST)
        if corners.ndim != 2 or corners.shape[1] != 2 or len(corners) == 0 or not np.isfinite(corners).all():
            raise MixfieldError(f"points must be corners (k, 2) of a line, finite numbers, got shape {corners.shape}")
        pen = _arrays.positive("radius", radius)
        number = ERASED if label is None else self._number(label)
        line = tuple((float(x), float(y)) for x, y in corners)
        self._actions.append(Stroke(line, number, pen, self._seen() if len(line) == 1 else None))

    def click(self, x: float, y: float, label: str | int) -> None:
        """Mark the pixels around a point, a short stroke."""
        self.add_stroke([(x, y)], label)

    def choose(self, k: int, n: int = ALTERNATIVES) -> None:
        """Take alternative ``k`` of ``suggest(n)``, numbered from 0, as the answer."""
        count = len(self.suggest(n))
        if _arrays.at_least("k", k, 0) >= count:
            raise MixfieldError(f"k must be one of the {count} suggestions, 0 to {count - 1}, got {k}")
        self._actions.append(self._state.choice(k, n))

    def answer(self, question: RegionQuestion, yes: bool) -> None:
        """Answer a question of `question`."""
        shown = self._canvas.reduce_map(self.labels())
        self._actions.append(Answer(question.canvas_region, question.new if yes else question.old, shown))

    def undo(self) -> Action | None:
        """Take the last action back and return it; None if there is none."""
        if not self._actions:
            return None
        self._states.pop(len(self._actions), None)
        return self._actions.pop()

    # ------------------------------------------------------------------ what the annotator sees

    def labels(self) -> Labels:
        """(H, W) the segmentation now: the alternative that was just chosen, or the heaviest mode.

        Before the first action it is that of the scores, or the first label everywhere.
        """
        self._shown_after = len(self._actions)
        return self._state.labels if self._actions else self._initial

    def suggest(self, n: int = ALTERNATIVES) -> tuple[Suggestion, ...]:
        """Up to ``n`` different segmentations, the heaviest mode first; their weights sum to one."""
        self._shown_after = len(self._actions)
        return self._state.suggestions(_arrays.at_least("n", n, 1))

    def question(self) -> RegionQuestion | None:
        """The yes/no question that is expected to correct most pixels; None if no question is worth asking."""
        if self._state.is_blank:
            return None
        found = self._state.modes(ALTERNATIVES)
        graph, labelings = found.field.graph, found.labelings()
        order = np.concatenate([found.chosen[:1], np.setdiff1d(np.arange(len(labelings)), found.chosen[:1])])
        asked = [action.region for action in self._actions if isinstance(action, Answer)]
        best = best_candidate(graph, labelings[order], found.probabilities[order], asked)
        if best is None:
            return None
        region = np.isin(graph.regions, best.members)
        old, new = self.names[best.old], self.names[best.new]
        share = float(graph.sizes[best.members].sum() / graph.sizes.sum())
        text = f"Is the marked region {new}? It is {old} now, {100 * share:.1f} % of the image."
        return RegionQuestion(self._enlarged(region), best.old, best.new, best.probability, share, text, region)

    # ------------------------------------------------------------------ files

    def save(self, path: str | PathLike[str]) -> None:
        """Write the actions to a JSON file in one step; `Annotation.load` resumes from it.  The image is not in it."""
        annotation_file.write(path, self.names, self.shape, self._actions)

    @classmethod
    def load(
        cls, path: str | PathLike[str], image: ArrayLike, scores: ArrayLike | None = None, *, logits: bool = False
    ) -> Annotation:
        """Resume the annotation of an image, with the same scores if there were any.

        A `FileFormatError` if the file is something else, damaged, of a later version, or of an image of another size.
        """
        names, shape, actions = annotation_file.read(path)
        annotation = cls(image, names, scores, logits=logits)
        if shape != annotation.shape:
            raise MixfieldError(
                f"{path} is of an image of {shape[1]} x {shape[0]} pixels, got {annotation.shape[::-1]}"
            )
        if canvas_shapes(actions) - {annotation._canvas.picture.shape[:2]}:
            raise FileFormatError(f"{path} was written with a canvas of another size; it cannot be resumed")
        annotation._actions = list(actions)
        return annotation

    # ------------------------------------------------------------------ inside

    @property
    def _state(self) -> AnnotationState:
        """What follows from the actions so far."""
        count = len(self._actions)
        if count not in self._states:
            self._states[count] = AnnotationState(self._canvas, len(self.names), self._scores, self._actions)
            self._states.pop(count - REMEMBERED, None)
        return self._states[count]

    def _seen(self) -> NDArray[np.integer] | None:
        """(h, w) labels on the canvas that the annotator has seen since the last action; None if none were shown."""
        is_shown = self._shown_after == len(self._actions) or not self._actions
        return self._canvas.reduce_map(self.labels()) if is_shown else None

    def _number(self, label: str | int) -> int:
        if isinstance(label, str):
            if label not in self.names:
                raise MixfieldError(f"label must be one of {', '.join(self.names)}, got {label!r}")
            return self.names.index(label)
        return int(_arrays.integers("label", [label], low=0, high=len(self.names))[0])

    def _enlarged(self, region: Bools) -> Bools:
        step, (height, width) = self._canvas.step, self.shape
        return np.asarray(region.repeat(step, 0).repeat(step, 1)[:height, :width])


def _checked_names(labels: Sequence[str]) -> tuple[str, ...]:
    names = tuple(labels) if not isinstance(labels, str) else ()
    if len(names) < 2 or len(set(names)) < len(names) or not all(isinstance(name, str) and name for name in names):
        raise MixfieldError(f"labels must be two or more different names, got {labels!r}")
    return names


def _initial_labels(probs: NDArray[np.float32] | None, shape: tuple[int, int], n_labels: int) -> Labels:
    """(H, W) the most probable labels, or label 0 everywhere."""
    labels = np.zeros(shape, np.int64) if probs is None else probs.argmax(-1)
    return np.asarray(_arrays.frozen(labels.astype(label_type(n_labels))))


def _label_count(scores: ArrayLike, n_labels: int) -> int | None:
    """Number of labels if the scores are a label map."""
    array: NDArray[Any] = _arrays.as_numpy("scores", scores)
    return n_labels if array.ndim == 2 and array.dtype.kind in "bui" else None
