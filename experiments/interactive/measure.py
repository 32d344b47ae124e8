"""One method on one photograph: the answers to human strokes, and a simulated annotator's clicks."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np

from experiments.interactive.annotator import Annotator, CarelessAnnotator, PerfectAnnotator, mark, no_strokes
from experiments.interactive.methods import METHODS, Session
from experiments.interactive.photographs import STROKE_SETS, StrokedPhoto, object_iou, photo_names, read_photo
from experiments.measurements import Row
from experiments.quiet import ignore_warnings

MOST_CLICKS = 20
ENOUGH = 0.95  # IoU at which an annotator stops
CARELESS = "careless"


def tasks(data: Path, methods: tuple[str, ...], annotators: tuple[str, ...]) -> dict[str, tuple[Any, ...]]:
    """Name and arguments of every measurement."""
    return {
        f"{name} {method} {annotator}": (data, name, method, annotator)
        for name in photo_names(data)
        for method in methods
        for annotator in annotators
    }


def measure(data: Path, name: str, method: str, annotator: str) -> Row:
    """IoU and seconds of the answers to strokes, and after every click."""
    photo = read_photo(data, name)
    with ignore_warnings():
        strokes = {kind: _answers(photo, method, kind) for kind in STROKE_SETS} if annotator != CARELESS else {}
        clicks = follow(METHODS[method](photo.image), photo, make_annotator(annotator, name))
    return {"photo": name, "method": method, "annotator": annotator, "strokes": strokes, "clicks": clicks}


def make_annotator(kind: str, name: str) -> Annotator:
    """The annotator of one photograph; a careless one has the seed of its name."""
    if kind == CARELESS:
        return CarelessAnnotator(np.random.default_rng([ord(letter) for letter in name]))
    return PerfectAnnotator()


def _answers(photo: StrokedPhoto, method: str, kind: str) -> Row:
    """IoU of each labeling, and processor seconds, with what is computed once per image."""
    started = time.process_time()
    labelings = METHODS[method](photo.image)(photo.strokes[kind])
    seconds = time.process_time() - started
    return {"ious": [object_iou(labels, photo.truth) for labels in labelings], "seconds": seconds}


def follow(session: Session, photo: StrokedPhoto, annotator: Annotator) -> Row:
    """IoU of the first labeling after every click, and the processor seconds that the answer took."""
    strokes, labels = no_strokes(photo.truth), None
    ious: list[float] = []
    seconds: list[float] = []
    while len(ious) < MOST_CLICKS and (not ious or ious[-1] < ENOUGH):
        click = annotator.next_click(labels, photo.truth)
        if click is None:
            break
        strokes = mark(strokes, click)
        started = time.process_time()
        labels = session(strokes)[0]
        seconds.append(time.process_time() - started)
        ious.append(object_iou(labels, photo.truth))
    return {"ious": ious, "seconds": seconds}


def clicks_to(ious: list[float], wanted: float) -> int:
    """Number of clicks (NoC) to an IoU; `MOST_CLICKS` where it is not reached."""
    return next((k for k, iou in enumerate(ious, 1) if iou >= wanted), MOST_CLICKS)
