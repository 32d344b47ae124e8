"""What follows from the actions of an annotation; each part is computed when it is first asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from mixfield import _arrays
from mixfield.interactive.annotation_actions import (
    Action,
    Choice,
    Labels,
    Stroke,
    answered,
    corrections,
    label_type,
    last_action,
    painted,
    voted,
)
from mixfield.interactive.canvas import Canvas
from mixfield.interactive.distinct_maps import distinct_maps
from mixfield.interactive.local_changes import local_changes
from mixfield.interactive.region_field import region_field
from mixfield.interactive.region_modes import RegionModes, pixel_labels, region_modes

Bools = NDArray[np.bool_]
Float32s = NDArray[np.float32]
Int32s = NDArray[np.int32]

LOOKED_FOR = 4  # modes, if fewer are asked for


@dataclass(frozen=True, eq=False)
class Suggestion:
    """One of several segmentations of the same strokes.

    Attributes
    ----------
    labels : (H, W) labels.
    weight : of this segmentation among those that were suggested; not a calibrated probability.
    differs : (H, W) pixels that differ from the first suggestion.
    """

    labels: Labels
    weight: float
    differs: Bools


class AnnotationState:
    """The segmentations of an image after some actions.

    Parameters
    ----------
    canvas : of the image.
    n_labels : number of labels.
    scores : (h, w, L) probabilities of a network on the canvas; None without.
    actions : strokes, choices and answers, oldest first.
    """

    def __init__(self, canvas: Canvas, n_labels: int, scores: Float32s | None, actions: Sequence[Action]) -> None:
        self._canvas, self._n_labels, self._scores, self._actions = canvas, n_labels, scores, tuple(actions)
        self._modes: dict[int, RegionModes] = {}  # by the number that is looked for
        self._maps: dict[tuple[int, int], Labels] = {}  # by that number and the number of the mode
        self._pooled: dict[int, dict[int, float]] = {}  # by that number, see `_distinct`

    @property
    def is_blank(self) -> bool:
        """Whether nothing is known."""
        return self._scores is None and not self._actions

    @cached_property
    def strokes(self) -> Int32s:
        """(H, W) labels of the strokes, -1 where there are none."""
        return painted(self._actions, self._canvas.plane)

    @cached_property
    def labels(self) -> Labels:
        """(H, W) the alternative that was just chosen, or the first mode; label 0 if nothing is known."""
        if self.is_blank:
            return _arrays.frozen(np.zeros(self._canvas.shape, label_type(self._n_labels)))
        last = self._actions[-1] if self._actions else None
        return last.labels if isinstance(last, Choice) else self._map(LOOKED_FOR, 0)

    def modes(self, n: int) -> RegionModes:
        """The modes of the regions, `LOOKED_FOR` or more."""
        n = max(n, LOOKED_FOR)
        if n not in self._modes:
            canvas = self._canvas
            votes = voted(self._actions, canvas.picture.shape[:2], self._n_labels)
            strokes = canvas.reduce_labels(self.strokes)
            field = region_field(canvas, strokes, self._n_labels, probs=self._scores, votes=votes)
            clicks = corrections(self._actions, strokes, canvas.step)
            last = last_action(self._actions, strokes, canvas.step)
            is_click = bool(clicks) and isinstance(self._actions[-1], Stroke) and last is not None
            local = local_changes(canvas, field, self._scores, clicks) if is_click and self._scores is not None else ()
            answers = answered(self._actions, strokes)
            self._modes[n] = region_modes(field, n, corrections=clicks, last=last, local=local, answered=answers)
        return self._modes[n]

    def suggestions(self, n: int) -> tuple[Suggestion, ...]:
        """Up to ``n`` different segmentations, the heaviest mode first; their weights sum to one."""
        if self.is_blank:
            return (Suggestion(self.labels, 1.0, np.zeros(self._canvas.shape, bool)),)
        found = self._distinct(n)
        maps, total = [self._map(n, number) for number in found], sum(found.values())
        return tuple(
            Suggestion(labels, weight / total, np.asarray(labels != maps[0]))
            for labels, weight in zip(maps, found.values(), strict=True)
        )

    def choice(self, k: int, n: int) -> Choice:
        """The action of choosing suggestion ``k`` of ``suggestions(n)``."""
        chosen = self.suggestions(n)[k].labels
        if self.is_blank:
            nothing = np.zeros(self._canvas.picture.shape[:2], np.int64)
            return Choice(chosen, nothing > 0, nothing)
        found = self.modes(n)
        maps = np.stack([found.labeling(number)[found.field.graph.regions] for number in self._distinct(n)])
        return Choice(chosen, (maps != maps[0]).any(0), maps[k])

    def _distinct(self, n: int) -> dict[int, float]:
        """Up to ``n`` modes whose maps differ, each with the weight of those that have the same map."""
        key = max(n, LOOKED_FOR)
        if key not in self._pooled:
            maps = [self._map(n, number) for number in range(len(self.modes(n).chosen))]
            self._pooled[key] = distinct_maps(maps, self.modes(n).weights)
        return dict(list(self._pooled[key].items())[:n])

    def _map(self, n: int, number: int) -> Labels:
        """(H, W) labels of a mode."""
        key = max(n, LOOKED_FOR), number
        if key not in self._maps:
            labels = pixel_labels(self._canvas, self.modes(n), number, self.strokes)
            self._maps[key] = _arrays.frozen(labels)
        return self._maps[key]
