"""A simulated person who clicks, takes alternatives and answers questions, by what corrects most pixels per second."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import mixfield as mf
from experiments.annotated import Network
from experiments.interactive.annotator import Annotator, wrong_regions
from experiments.interactive.measure import make_annotator
from experiments.interactive.methods import Mixture, single_mean_field
from experiments.interactive.objects import read_object
from experiments.interactive.photographs import VOID, Labels, StrokedPhoto, object_iou, read_photo
from experiments.measurements import Row
from experiments.quiet import ignore_warnings

SECONDS = {"click": 1.0, "choice": 0.4, "answer": 0.3}
WANTED = 0.9  # IoU at which the person is content
MOST = 20  # actions
SURE = 0.8  # share of the region of a question that has the new label where a person says yes
CLICKS, OFFERS, CONTROL = "clicks alone", "alternatives and questions", "mean field, clicks"
REFINED_CONTROL = "mean field of refined regions, clicks"


@dataclass(frozen=True)
class Option:
    """Something that the person can do: an alternative or a question by number, or a click, and what it corrects."""

    kind: str
    number: int
    pixels: int

    @property
    def rate(self) -> float:
        """Corrected pixels per second."""
        return self.pixels / SECONDS[self.kind]


def measure_photo(data: Path, name: str, way: str, annotator: str) -> Row:
    """The actions of a person on a photograph of the GrabCut set."""
    return _measured(read_photo(data, name), way, annotator)


def measure_object(data: Path, name: str, way: str, network: Network) -> Row:
    """The actions of a person on an object with the scores of a network."""
    return {**_measured(read_object(data, name, network), way, "perfect"), "network": network}


def _measured(photo: StrokedPhoto, way: str, annotator: str) -> Row:
    who = make_annotator(annotator, photo.name)
    with ignore_warnings():
        if way in (CONTROL, REFINED_CONTROL):
            states = without_modes(photo, who, refined=way == REFINED_CONTROL)
        else:
            states = with_modes(photo, who, offers=way == OFFERS)
        rows = list(states)
    return {"photo": photo.name, "way": way, "annotator": annotator, "states": rows}


def without_modes(photo: StrokedPhoto, annotator: Annotator, *, refined: bool = False) -> Iterator[Row]:
    """The controls: the scores' own labels corrected by clicks, with one mean field after each click."""
    tool = single_mean_field(photo, refined=refined)
    labels = _first_labels(photo)
    yield {"iou": _iou(labels, photo)}
    for _ in range(MOST):
        click = annotator.next_click(labels, photo.truth)
        if click is None or _iou(labels, photo) >= WANTED:
            return
        labels = tool.click(click)
        yield {"iou": _iou(labels, photo), "did": "click"}


def _first_labels(photo: StrokedPhoto) -> Labels | None:
    return None if photo.scores is None else photo.scores.argmax(-1)


def _iou(labels: Labels | None, photo: StrokedPhoto) -> float:
    return 0.0 if labels is None else object_iou(labels, photo.truth)


def with_modes(photo: StrokedPhoto, annotator: Annotator, *, offers: bool) -> Iterator[Row]:
    """Ours: the states of an annotation, with what the person did to get there and what is offered there."""
    tool = Mixture(photo)
    annotation, blank = tool.annotation, photo.scores is None
    did = None
    for _ in range(MOST + 1):
        labels = None if blank else np.asarray(annotation.labels(), np.int64)
        options, offered = _offers(annotation, labels, photo.truth) if offers and labels is not None else ([], {})
        yield {"iou": _iou(labels, photo), "did": did, **offered}
        click = annotator.next_click(labels, photo.truth)
        if click is None or _iou(labels, photo) >= WANTED:
            return
        sizes = wrong_regions(labels, photo.truth)[1]
        best = max([Option("click", 0, int(sizes.max())), *options], key=lambda option: option.rate)
        if best.kind == "click":
            tool.click(click)
        elif best.kind == "choice":
            annotation.choose(best.number)
        else:
            annotation.answer(_question(annotation), bool(best.number))
        did, blank = best.kind, False


def _question(annotation: mf.Annotation) -> Any:
    question = annotation.question()
    assert question is not None  # the option would not exist
    return question


def _offers(annotation: mf.Annotation, labels: Labels, truth: Labels) -> tuple[list[Option], Row]:
    """The alternatives and the question, and how good they are; an answer no corrects nothing."""
    suggestions = annotation.suggest()
    options = [Option("choice", k, _corrected(labels, one.labels, truth)) for k, one in enumerate(suggestions) if k > 0]
    row: Row = {
        "ious": [object_iou(one.labels, truth) for one in suggestions],
        "weights": [one.weight for one in suggestions],
    }
    question = annotation.question()
    if question is not None:
        yes = float((truth[question.region & (truth != VOID)] == question.new).mean()) >= SURE
        changed = np.where(question.region, question.new, labels)
        options += [Option("answer", 1, _corrected(labels, changed, truth))] if yes else []
        row |= {"question": question.probability, "yes": yes}
    return options, row


def _corrected(before: NDArray[Any], after: NDArray[Any], truth: Labels) -> int:
    """Pixels that become right, less those that become wrong."""
    counts = truth != VOID
    return int(((before != truth) & counts).sum()) - int(((after != truth) & counts).sum())


def actions_to_wanted(states: list[Row]) -> list[str]:
    """What the person did until the IoU was reached; `MOST` clicks if it was not."""
    done: list[str] = []
    for state in states:
        done += [state["did"]] if state.get("did") else []
        if state["iou"] >= WANTED:
            return done
    return ["click"] * MOST


def seconds_to_wanted(states: list[Row], seconds: dict[str, float]) -> float:
    """Seconds of the person until the IoU was reached, at given seconds for each action."""
    return sum(seconds[did] for did in actions_to_wanted(states))
