"""The methods that are compared: tools that answer strokes, and clicks one after the other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

import mixfield as mf
from experiments.interactive.annotator import Click, mark, no_strokes
from experiments.interactive.peers import Labelings, Session, grabcut, graph_cut, random_walker
from experiments.interactive.photographs import Labels, StrokedPhoto
from mixfield.apps import as_pixels, slic_superpixels, superpixel_energy
from mixfield.interactive.canvas import Canvas
from mixfield.interactive.region_field import region_field
from mixfield.interactive.region_modes import pixel_marginals

N_MODES = 4
CERTAINTY = 0.99
NAMES = ("background", "object")
OURS, CONTROL, GRAPH_CUT = "mixture", "mean field of the same field", "graph cut"


class Tool(Protocol):
    """Something that segments a photograph from strokes."""

    def answers(self, strokes: Labels) -> tuple[Labelings, NDArray[np.float64]]:
        """(K, H, W) labelings for strokes (H, W), the answer first, and their weights (K,)."""

    def click(self, click: Click) -> Labels:
        """(H, W) the answer after one more click."""


class Mixture:
    """Ours: `mixfield.segment` for strokes, `mixfield.Annotation` for clicks."""

    def __init__(self, photo: StrokedPhoto) -> None:
        self._image = photo.image
        self.annotation = annotate(photo)

    def answers(self, strokes: Labels) -> tuple[Labelings, NDArray[np.float64]]:
        found = mf.segment(self._image, strokes, N_MODES, unknown=(-1,), n_labels=len(NAMES))
        return found.labelings(), found.weights

    def click(self, click: Click) -> Labels:
        self.annotation.add_stroke([(click.column, click.row)], click.label, radius=click.radius)
        return np.asarray(self.annotation.labels(), np.int64)


def annotate(photo: StrokedPhoto) -> mf.Annotation:
    """The annotation of a photograph at its beginning."""
    return mf.Annotation(photo.image, NAMES, photo.scores)


@dataclass
class Redrawn:
    """A tool without memory: all strokes are segmented anew after each click."""

    session: Session
    strokes: Labels

    def answers(self, strokes: Labels) -> tuple[Labelings, NDArray[np.float64]]:
        return self.session(strokes), np.ones(1)

    def click(self, click: Click) -> Labels:
        self.strokes = mark(self.strokes, click)
        return np.asarray(self.session(self.strokes)[0])


def redrawn(session: Callable[[NDArray[Any]], Session]) -> Callable[[StrokedPhoto], Redrawn]:
    """The tool of a session of an image."""
    return lambda photo: Redrawn(session(photo.image), no_strokes(photo.truth))


def single_mean_field(photo: StrokedPhoto, *, refined: bool = False) -> Redrawn:
    """One mean field of our field, over superpixels of one size, or ``refined`` where the labels of the scores change.

    The evidence has the scores of a network if there are any; ``refined`` needs them.
    """
    canvas = Canvas.of(photo.image)
    if refined:
        assert photo.scores is not None
        canvas = canvas.refined(canvas.reduce_map(photo.scores.argmax(-1)))
    probs = None if photo.scores is None else canvas.reduce(photo.scores)

    def answer(strokes: Labels) -> Labelings:
        field = region_field(canvas, canvas.reduce_labels(strokes), 2, probs=probs)
        marginals = mf.mean_field(field.energy).marginals
        return np.asarray(pixel_marginals(canvas, field, marginals, strokes).argmax(-1)[None])

    return Redrawn(answer, no_strokes(photo.truth))


def potts_superpixels(image: NDArray[Any]) -> Session:
    """Version 0.1: a contrast-sensitive Potts model on superpixels, strokes as their only evidence, four modes."""
    superpixels = slic_superpixels(image)

    def answer(strokes: Labels) -> Labelings:
        energy = superpixel_energy(image, strokes, superpixels, certainty=CERTAINTY, n_labels=2)
        return as_pixels(mf.infer(energy, N_MODES), superpixels).labelings()

    return answer


def potts_mean_field(image: NDArray[Any]) -> Session:
    """One mean field of the same field."""
    superpixels = slic_superpixels(image)

    def answer(strokes: Labels) -> Labelings:
        energy = superpixel_energy(image, strokes, superpixels, certainty=CERTAINTY, n_labels=2)
        return np.asarray(mf.mean_field(energy).labeling()[superpixels][None])

    return answer


METHODS: dict[str, Callable[[StrokedPhoto], Tool]] = {
    OURS: Mixture,
    CONTROL: single_mean_field,
    "Potts superpixels (0.1)": redrawn(potts_superpixels),
    "its mean field (0.1)": redrawn(potts_mean_field),
    "GrabCut": redrawn(grabcut),
    "random walker": redrawn(random_walker),
    GRAPH_CUT: redrawn(graph_cut),
}


def installed() -> tuple[str, ...]:
    """The methods that can run here: PyMaxflow is GPL software, and no dependency."""
    return tuple(name for name in METHODS if name != GRAPH_CUT or find_spec("maxflow"))
