"""One method on one photograph: the answers to human strokes, and a simulated annotator's clicks."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np

from experiments.interactive.annotator import Annotator, CarelessAnnotator, PerfectAnnotator
from experiments.interactive.methods import METHODS, Tool
from experiments.interactive.photographs import STROKE_SETS, Labels, StrokedPhoto, object_iou, read_photo
from experiments.measurements import Row
from experiments.quiet import ignore_warnings

MOST_CLICKS = 20
ENOUGH = 0.95  # IoU at which an annotator stops
CARELESS = "careless"


def measure(data: Path, name: str, method: str, annotator: str) -> Row:
    """IoU and seconds of the answers to strokes, and after every click."""
    photo = read_photo(data, name)
    with ignore_warnings():
        strokes = {kind: _answers(photo, method, kind) for kind in STROKE_SETS} if annotator != CARELESS else {}
        clicks = follow(METHODS[method](photo), photo, make_annotator(annotator, name))
    return {"photo": name, "method": method, "annotator": annotator, "strokes": strokes, "clicks": clicks}


def make_annotator(kind: str, name: str) -> Annotator:
    """The annotator of one photograph; a careless one has the seed of its name."""
    if kind == CARELESS:
        return CarelessAnnotator(np.random.default_rng([ord(letter) for letter in name]))
    return PerfectAnnotator()


def _answers(photo: StrokedPhoto, method: str, kind: str) -> Row:
    """IoU of each labeling, and processor seconds, with what is computed once per image."""
    started = time.process_time()
    labelings, weights = METHODS[method](photo).answers(photo.strokes[kind])
    seconds = time.process_time() - started
    ious = [object_iou(labels, photo.truth) for labels in labelings]
    return {"ious": ious, "weights": [float(weight) for weight in weights], "seconds": seconds}


def follow(tool: Tool, photo: StrokedPhoto, annotator: Annotator) -> Row:
    """IoU of the answer after every click, and the processor seconds that it took."""
    labels: Labels | None = None
    ious: list[float] = []
    seconds: list[float] = []
    while len(ious) < MOST_CLICKS and (not ious or ious[-1] < ENOUGH):
        click = annotator.next_click(labels, photo.truth)
        if click is None:
            break
        started = time.process_time()
        labels = tool.click(click)
        seconds.append(time.process_time() - started)
        ious.append(object_iou(labels, photo.truth))
    return {"ious": ious, "seconds": seconds}


def clicks_to(ious: list[float], wanted: float) -> int:
    """Number of clicks (NoC) to an IoU; `MOST_CLICKS` where it is not reached."""
    return next((k for k, iou in enumerate(ious, 1) if iou >= wanted), MOST_CLICKS)
