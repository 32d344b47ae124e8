"""The model of what a click changes around it, fitted to pixels near the clicks of simulated annotators.

Annotators correct every class of a photograph, from the scores of a network and from scores that are warped at random.
After a click, part of the wrong region becomes right, and sometimes pixels around it wrong, with borders that are rough
at random.  A first model is fitted to such clicks on some of the images.  In a second round, on all of them, it answers
most clicks: pixels above a level of it take the label of the click.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter, label, shift
from scipy.special import expit

from experiments.annotated import Network
from experiments.interactive.annotator import EIGHT, CarelessAnnotator, Click, PerfectAnnotator, mark, no_strokes
from experiments.interactive.objects import class_object, classes_of, read_example
from experiments.interactive.photographs import VOID, Labels, StrokedPhoto, object_iou
from experiments.measurements import Row
from mixfield.interactive.canvas import Canvas
from mixfield.interactive.click_features import click_features
from mixfield.interactive.corrections import Correction
from mixfield.interactive.local_changes import local_changes
from mixfield.interactive.local_model import LocalModel
from mixfield.interactive.region_field import region_field

Floats = NDArray[np.float64]
Float32s = NDArray[np.float32]
Bools = NDArray[np.bool_]

MOST, ENOUGH = 9, 0.93  # clicks on an object, IoU at which there are no more
CARELESS = 0.25  # share of the clicks of careless annotators
SAMPLED = 300  # pixels of each click
ANSWERED, LEVELS = 0.7, (-1.0, 1.5)  # share of the clicks that the first model answers, at a level between these
SHARES = (0.3, 0.6, 0.9, 1.0)  # of the wrong region that becomes right after the others
SPILLED, SPILL = 0.3, (0.05, 0.5)  # probability that pixels become wrong, their number against the wrong region
ROUGH, SMOOTH = 0.3, 6.0  # logarithm of the noise of distances, and its scale in pixels
CONFIDENCE, NOISE, SCALE, BIAS, SHIFT = (0.5, 1.2), 2.5, (6.0, 40.0), 0.8, 3.0  # of scores that are warped
SMALLEST = 0.02  # share of the window below which wrong regions count alike


def save_pixels(data: Path, name: str, network: Network, first: Path | None = None) -> Row:
    """Pixels of the clicks on an image as a measurement: features, whether they belong to the error, and a weight.

    Parameters
    ----------
    data, name, network : of the scores of an image.
    first : file of the model that answers clicks; None in the first round.
    """
    model = None if first is None else LocalModel.load(first)
    rng = np.random.default_rng([ord(letter) for letter in f"{name} {network}"])
    clicks = [click for photo in _photos(data, name, network, rng) for click in _clicked(photo, model, rng)]
    return {"object": name, "network": network, "clicks": clicks}


def _photos(data: Path, name: str, network: Network, rng: np.random.Generator) -> Iterator[StrokedPhoto]:
    """Each class with the scores of the network, and with scores that are warped."""
    example = read_example(data, name, network)
    for wanted in classes_of(example.truth):
        photo = class_object(name, example, wanted)
        assert photo.scores is not None
        yield photo
        yield StrokedPhoto(name, photo.image, photo.truth, {}, _warped(photo.scores, rng))


def _warped(scores: Float32s, rng: np.random.Generator) -> Float32s:
    """Scores of another confidence, with smooth noise and a shift."""
    probs = np.clip(scores[..., 1], 1e-4, 1 - 1e-4)
    logits = np.log(probs / (1 - probs)) * rng.uniform(*CONFIDENCE)
    noise = gaussian_filter(rng.standard_normal(logits.shape), rng.uniform(*SCALE))
    logits = logits + rng.uniform(0, NOISE) * noise / noise.std() + rng.normal() * BIAS
    probs = expit(shift(logits, rng.normal(size=2) * SHIFT, order=1, mode="nearest"))
    return np.stack([1 - probs, probs], -1).astype(np.float32)


def _clicked(photo: StrokedPhoto, model: LocalModel | None, rng: np.random.Generator) -> list[Row]:
    assert photo.scores is not None
    labels, strokes, done = photo.scores.argmax(-1), no_strokes(photo.truth), []
    canvas = Canvas.of(photo.image).refined(labels)
    found: list[Row] = []
    while len(found) < MOST and object_iou(labels, photo.truth) < ENOUGH:
        who = CarelessAnnotator(rng) if rng.random() < CARELESS else PerfectAnnotator()
        click = who.next_click(labels, photo.truth)
        if click is None:
            break
        strokes = mark(strokes, click)
        done.append(Correction(click.row, click.column, click.label, labels))
        field = region_field(canvas, strokes, 2, probs=photo.scores)
        window, features = click_features(canvas, field, photo.scores, done)
        wrong = _wrong_region(labels, photo.truth, click)
        counted = window.inside & (photo.truth[window.part] != VOID)
        found.append(_sampled(features, counted, wrong[window.part], wrong.sum(), rng))
        if model is not None and rng.random() < ANSWERED:
            changed = local_changes(canvas, field, photo.scores, done, [rng.uniform(*LEVELS)], model)[0]
            labels = mark(np.where(changed, click.label, labels), click)
        else:
            labels = _partly_corrected(labels, wrong, click, rng)
    return found


def _sampled(features: Floats, counted: Bools, wrong: Bools, size: int, rng: np.random.Generator) -> Row:
    """Some of the pixels that count; a click counts in proportion to the share of the wrong region in the window."""
    numbers = np.flatnonzero(counted)
    sample = rng.choice(numbers, min(len(numbers), SAMPLED), replace=False)
    values = features.reshape(-1, features.shape[-1])[sample].round(4)
    weight = len(numbers) / max(len(sample), 1) / max(wrong.sum(), SMALLEST * len(numbers), 1)
    return {
        "features": values.tolist(),
        "wrong": wrong.ravel()[sample].tolist(),
        "weight": float(weight * min(1, wrong.sum() / size + 0.2)),
    }


def _wrong_region(labels: Labels, truth: Labels, click: Click) -> Bools:
    regions, _ = label((labels != truth) & (truth == click.label), EIGHT)
    return np.asarray(regions == regions[click.row, click.column])


def _partly_corrected(labels: Labels, wrong: Bools, click: Click, rng: np.random.Generator) -> Labels:
    noise = gaussian_filter(rng.standard_normal(labels.shape), SMOOTH)
    rows, columns = np.ogrid[: labels.shape[0], : labels.shape[1]]
    distances = np.hypot(rows - click.row, columns - click.column) * np.exp(ROUGH * noise / noise.std())
    changed = _nearest(wrong, distances, float(rng.choice(SHARES)) * wrong.sum())
    if rng.random() < SPILLED:
        changed |= _nearest((labels != click.label) & ~wrong, distances, rng.uniform(*SPILL) * wrong.sum())
    return mark(np.where(changed, click.label, labels), click)


def _nearest(inside: Bools, distances: Floats, count: float) -> Bools:
    """The pixels ``inside`` with the smallest distances."""
    at = np.flatnonzero(inside)
    at = at[np.argsort(distances.ravel()[at], kind="stable")[: max(1, int(count))]]
    return np.asarray(np.isin(np.arange(inside.size), at).reshape(inside.shape))


def pixels_of(rows: Sequence[Row]) -> tuple[Floats, Floats, Floats]:
    """Features (n, F) of the pixels of measurements, whether they are wrong, and their weights."""
    clicks = [click for row in rows for click in row["clicks"] if click["wrong"]]
    features = np.concatenate([np.array(click["features"]) for click in clicks])
    wrong = np.concatenate([np.array(click["wrong"], float) for click in clicks])
    weights = np.concatenate([np.full(len(click["wrong"]), click["weight"]) for click in clicks])
    return features, wrong, weights / weights.mean()
