"""The weights of candidates, fitted to clicks of simulated annotators on objects.

An annotator corrects each object; at every click the candidates, their features and their IoU are written down.  The
weights maximise the expected IoU of a candidate that is drawn with its probability.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import softmax

from experiments.interactive.annotator import Annotator, Click, mark, no_strokes
from experiments.interactive.measure import ENOUGH, MOST_CLICKS, make_annotator
from experiments.interactive.objects import read_object
from experiments.interactive.photographs import StrokedPhoto, object_iou
from experiments.measurements import Row
from experiments.quiet import ignore_warnings
from mixfield.interactive.candidate_weights import CandidateWeights, candidate_features
from mixfield.interactive.canvas import Canvas
from mixfield.interactive.corrections import Correction
from mixfield.interactive.region_candidates import LastAction
from mixfield.interactive.region_field import region_field
from mixfield.interactive.region_modes import RegionModes, pixel_labels, region_modes

Floats = NDArray[np.float64]

PENALTY = 1e-4  # of the squares of the weights
START = CandidateWeights(0.0, share=2.0, depth=4.0)


@dataclass(frozen=True, eq=False)
class Step:
    """The candidates after one click: features (K, F) and IoU (K,)."""

    features: Floats
    ious: Floats


def save_steps(data: Path, name: str, annotator: str, with_scores: bool) -> Row:
    """The steps of one object as a measurement."""
    with ignore_warnings():
        steps = clicked(read_object(data, name), make_annotator(annotator, name), with_scores=with_scores)
    return {"object": name, "steps": [[step.features.tolist(), step.ious.tolist()] for step in steps]}


def clicked(photo: StrokedPhoto, annotator: Annotator, *, with_scores: bool) -> list[Step]:
    """The steps of an annotator who corrects the answer that is shown."""
    canvas, strokes = Canvas.of(photo.image), no_strokes(photo.truth)
    probs = photo.scores if with_scores else None
    labels = np.zeros_like(photo.truth) if probs is None else probs.argmax(-1)
    clicks: list[Correction] = []
    steps: list[Step] = []
    while len(steps) < MOST_CLICKS and object_iou(labels, photo.truth) < ENOUGH:
        click = annotator.next_click(labels, photo.truth)
        if click is None:
            break
        strokes = mark(strokes, click)
        clicks.append(Correction(click.row, click.column, click.label, labels))
        field = region_field(canvas, strokes, 2, probs=probs)
        found = region_modes(field, 4, corrections=clicks, last=_last(click, labels))
        steps.append(_step(found, clicks, photo))
        labels = pixel_labels(canvas, found, 0, strokes)
    return steps


def _last(click: Click, shown: NDArray[np.int64]) -> LastAction:
    place = np.zeros(shown.shape, bool)
    place[click.row, click.column] = True
    return LastAction(shown, place, click.label)


def _step(found: RegionModes, clicks: Sequence[Correction], photo: StrokedPhoto) -> Step:
    maps = found.labelings()[:, found.field.graph.regions]
    ious = np.array([object_iou(labels, photo.truth) for labels in maps])
    return Step(candidate_features(found.field, found.candidates, clicks, maps), ious)


def load_steps(rows: Sequence[Row]) -> list[Step]:
    """The steps of measurements."""
    return [Step(np.array(features), np.array(ious)) for row in rows for features, ious in row["steps"]]


def fit_weights(steps: Sequence[Step]) -> CandidateWeights:
    """Maximise the mean of ``sum_k p_k IoU_k`` with ``p = softmax(features @ weights)``."""

    def loss(weights: Floats) -> tuple[float, Floats]:
        value, slope = 0.0, np.zeros(len(weights))
        for step in steps:
            p = softmax(step.features @ weights)
            expected = float(p @ step.ious)
            value -= expected
            slope -= (p * (step.ious - expected)) @ step.features
        return value / len(steps) + PENALTY * float(weights @ weights), slope / len(steps) + 2 * PENALTY * weights

    start = np.array([getattr(START, name) for name in START.__dataclass_fields__])
    found = minimize(loss, start, jac=True, method="L-BFGS-B")
    return CandidateWeights(*(float(value) for value in found.x))
