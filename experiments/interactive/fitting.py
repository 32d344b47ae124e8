"""The weights of candidates, fitted to clicks of simulated annotators on objects.

An annotator corrects each object; at every click the candidates, their features and their IoU are written down.  The
weights maximise the expected IoU of a candidate that is drawn with its probability.  Where there are scores, the pixels
around a click come from a model that was fitted without the image: its candidates are better on images that it knows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import softmax

from experiments.annotated import Network
from experiments.interactive.annotator import Annotator, Click, mark, no_strokes
from experiments.interactive.measure import ENOUGH, MOST_CLICKS, make_annotator
from experiments.interactive.objects import read_object
from experiments.interactive.photographs import StrokedPhoto, object_iou
from experiments.measurements import Row
from experiments.quiet import ignore_warnings
from mixfield.interactive.candidate_maps import candidate_maps
from mixfield.interactive.candidate_weights import CandidateWeights, candidate_features
from mixfield.interactive.canvas import Canvas
from mixfield.interactive.corrections import Correction
from mixfield.interactive.local_changes import local_changes
from mixfield.interactive.local_model import LocalModel
from mixfield.interactive.region_candidates import LastAction
from mixfield.interactive.region_field import region_field
from mixfield.interactive.region_modes import RegionModes, pixel_labels, region_modes

Floats = NDArray[np.float64]

MOST_WITH_MODEL = 9  # clicks on an object with scores
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


def save_score_steps(data: Path, name: str, annotator: str, network: Network, model: Path) -> Row:
    """The same with the scores of a network and a model of the pixels around a click."""
    with ignore_warnings():
        who, local = make_annotator(annotator, name), LocalModel.load(model)
        steps = clicked(read_object(data, name, network), who, with_scores=True, model=local)
    return {"object": name, "network": network, "steps": [[one.features.tolist(), one.ious.tolist()] for one in steps]}


def clicked(
    photo: StrokedPhoto, annotator: Annotator, *, with_scores: bool, model: LocalModel | None = None
) -> list[Step]:
    """The steps of an annotator who corrects the answer that is shown; pixels around a click by a model, if any."""
    canvas, strokes = Canvas.of(photo.image), no_strokes(photo.truth)
    probs = photo.scores if with_scores else None
    labels = np.zeros_like(photo.truth) if probs is None else probs.argmax(-1)
    canvas = canvas if model is None else canvas.refined(labels)
    most = MOST_CLICKS if model is None else MOST_WITH_MODEL
    clicks: list[Correction] = []
    steps: list[Step] = []
    while len(steps) < most and object_iou(labels, photo.truth) < ENOUGH:
        click = annotator.next_click(labels, photo.truth)
        if click is None:
            break
        strokes = mark(strokes, click)
        clicks.append(Correction(click.row, click.column, click.label, labels))
        field = region_field(canvas, strokes, 2, probs=probs)
        local = () if probs is None or model is None else local_changes(canvas, field, probs, clicks, model=model)
        found = region_modes(field, 4, corrections=clicks, last=_last(click, labels), local=local)
        steps.append(_step(found, clicks, photo))
        labels = pixel_labels(canvas, found, 0, strokes)
    return steps


def _last(click: Click, shown: NDArray[np.int64]) -> LastAction:
    place = np.zeros(shown.shape, bool)
    place[click.row, click.column] = True
    return LastAction(shown, place, click.label)


def _step(found: RegionModes, clicks: Sequence[Correction], photo: StrokedPhoto) -> Step:
    maps = candidate_maps(found.field, found.candidates, found.last)
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
