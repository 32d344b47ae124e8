"""Alternatives of neighbouring blocks joined to regions: local questions with one answer for all blocks they touch.

A block describes the change that a mode makes in its core and in half of its halo.  Two descriptions belong to the same
question if they change the same label to the same other label and share pixels; their union is its region.  Its
log-odds are the means of those of its parts, weighted by their pixels in the cores.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mixfield.apps.blocks import Window, intersection, relative

Bools = NDArray[np.bool_]
Labels = NDArray[np.integer]

MOST_CERTAIN = 1e-3  # distance of a probability from 0 and 1 in the mean of log-odds


@dataclass(frozen=True, eq=False)
class Alternative:
    """A change of labels in one block.

    Attributes
    ----------
    window : of the image, around the changed pixels.
    changed : (*window) the pixels.
    labels : (*window) the new labels.
    old, new : the most frequent pair of labels.
    probability : that the new labels are better.
    pixels : number of changed pixels in the core of the block.
    cut_off : whether it reaches the end of what the block describes, inside the image.
    """

    window: Window
    changed: Bools
    labels: Labels
    old: int
    new: int
    probability: float
    pixels: int
    cut_off: bool

    @staticmethod
    def of(
        changed: Bools, before: Labels, after: Labels, reach: Window, core: Window, probability: float
    ) -> Alternative:
        """From what a block describes, arrays over ``reach``, a window of the image around its ``core``."""
        pairs, counts = np.unique(np.stack([before[changed], after[changed]]), axis=1, return_counts=True)
        old, new = pairs[:, counts.argmax()].tolist()
        tight = _bounding_box(changed)
        window = tuple(
            slice(outer.start + box.start, outer.start + box.stop) for outer, box in zip(reach, tight, strict=True)
        )
        cut_off = any(
            (box.start == 0 and inner.start > outer.start) or (box.stop == size and inner.stop < outer.stop)
            for box, size, inner, outer in zip(tight, changed.shape, core, reach, strict=True)
        )
        labels = after[tight].astype(np.uint16)
        return Alternative(
            window, changed[tight], labels, old, new, probability, int(changed[relative(core, reach)].sum()), cut_off
        )

    def asks_the_same(self, other: Alternative) -> bool:
        """Whether both change the same label to the same other label, and share pixels."""
        return (self.old, self.new) == (other.old, other.new) and self.shares_pixels(other)

    def shares_pixels(self, other: Alternative) -> bool:
        """Whether some pixel is changed by both."""
        common = intersection(self.window, other.window)
        if common is None:
            return False
        mine, others = (one.changed[relative(common, one.window)] for one in (self, other))
        return bool((mine & others).any())

    def paint(self, labels: Labels, window: Window) -> None:
        """Write the new labels into ``labels``, those of a window of the image, in place."""
        common = intersection(self.window, window)
        if common is not None:
            mine, theirs = relative(common, self.window), relative(common, window)
            labels[theirs][self.changed[mine]] = self.labels[mine][self.changed[mine]]

    def mark(self, mask: Bools, window: Window) -> None:
        """Set ``mask``, over a window of the image, to True at the changed pixels, in place."""
        common = intersection(self.window, window)
        if common is not None:
            mask[relative(common, window)] |= self.changed[relative(common, self.window)]


@dataclass(frozen=True, eq=False)
class LocalQuestion:
    """Is a region of a large image rather labelled ``old`` or ``new``?

    Attributes
    ----------
    old, new : most frequent labels of the answer and of the alternative.
    probability : that the new labels are better.
    window : around the region.
    blocks : names of the blocks that have asked it.
    complete : False where the region ends at the border of a block because the neighbour does not ask the question.
    chosen : whether the labels that were written are the new ones.
    parts : the alternatives of the blocks.
    """

    old: int
    new: int
    probability: float
    window: Window
    blocks: tuple[str, ...]
    complete: bool
    chosen: bool
    parts: tuple[Alternative, ...]

    @cached_property
    def pixels(self) -> int:
        """Number of pixels of the region."""
        return int(self.region.sum())

    def facts(self) -> dict[str, Any]:
        """All of it that can be written as JSON; ``first`` and ``last`` are corners of the window."""
        names = ("old", "new", "probability", "pixels", "complete", "chosen")
        first, last = ([getattr(along, end) for along in self.window] for end in ("start", "stop"))
        return {name: getattr(self, name) for name in names} | {
            "first": first,
            "last": last,
            "blocks": list(self.blocks),
        }

    @property
    def region(self) -> Bools:
        """Which pixels of the window are part of the region."""
        mask = np.zeros([along.stop - along.start for along in self.window], bool)
        for part in self.parts:
            part.mark(mask, self.window)
        return mask


def joined(alternatives: Mapping[str, Sequence[Alternative]]) -> tuple[LocalQuestion, ...]:
    """The questions behind the alternatives of all blocks, by name, the most useful first.

    Of questions that share pixels the most probable is chosen, if it is more probable than not; so every region has one
    answer in all blocks that it touches.
    """
    parts = [(name, one) for name in sorted(alternatives) for one in alternatives[name]]
    groups = _groups([one for _, one in parts])
    found = [_question([parts[k] for k in group]) for group in groups]
    found.sort(key=lambda one: (-one.probability * math.sqrt(one.pixels), [along.start for along in one.window]))
    return _choose(found)


def _groups(parts: Sequence[Alternative]) -> list[list[int]]:
    """Connected components of alternatives that ask the same, by union-find."""
    parent = list(range(len(parts)))

    def root(k: int) -> int:
        while parent[k] != k:
            k = parent[k]
        return k

    order = sorted(range(len(parts)), key=lambda k: (parts[k].window[0].start, k))
    for place, a in enumerate(order):
        for b in order[place + 1 :]:
            if parts[b].window[0].start >= parts[a].window[0].stop:
                break
            if parts[a].asks_the_same(parts[b]):
                low, high = sorted((root(a), root(b)))
                parent[high] = low
    groups: dict[int, list[int]] = {}
    for k in range(len(parts)):
        groups.setdefault(root(k), []).append(k)
    return list(groups.values())


def _question(members: Sequence[tuple[str, Alternative]]) -> LocalQuestion:
    parts = tuple(one for _, one in members)
    names = tuple(sorted({name for name, _ in members}))
    weights = np.array([max(one.pixels, 1) for one in parts], float)
    odds = np.array([_logit(one.probability) for one in parts])
    window = tuple(
        slice(min(along.start for along in axis), max(along.stop for along in axis))
        for axis in zip(*(one.window for one in parts), strict=True)
    )
    probability = 1 / (1 + math.exp(-float(np.average(odds, weights=weights))))
    complete = len(names) > 1 or not any(one.cut_off for one in parts)
    return LocalQuestion(parts[0].old, parts[0].new, probability, window, names, complete, False, parts)


def _choose(found: Sequence[LocalQuestion]) -> tuple[LocalQuestion, ...]:
    """Mark the questions whose new labels are written."""
    chosen: list[int] = []
    for k in sorted(range(len(found)), key=lambda k: -found[k].probability):
        one = found[k]
        free = not any(a.shares_pixels(b) for other in chosen for a in one.parts for b in found[other].parts)
        if one.probability > 0.5 and one.complete and free:
            chosen.append(k)
    return tuple(replace(one, chosen=True) if k in chosen else one for k, one in enumerate(found))


def _bounding_box(changed: Bools) -> Window:
    """The smallest window around the true elements, of which there are some."""
    box = []
    for axis in range(changed.ndim):
        along = np.flatnonzero(changed.any(tuple(a for a in range(changed.ndim) if a != axis)))
        box.append(slice(int(along[0]), int(along[-1]) + 1))
    return tuple(box)


def _logit(p: float) -> float:
    p = min(max(p, MOST_CERTAIN), 1 - MOST_CERTAIN)
    return math.log(p / (1 - p))
