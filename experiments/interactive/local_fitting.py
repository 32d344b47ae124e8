"""The weights of what a click changes around it, fitted to pixels near the clicks of a simulated annotator.

An annotator corrects each object; instead of an answer, part of the wrong region becomes right, and sometimes pixels
around it wrong, with borders that are rough at random.  So the weights do not depend on the answers that they give.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter, label
from scipy.optimize import minimize
from scipy.special import expit

from experiments.annotated import Network
from experiments.interactive.annotator import EIGHT, Click, PerfectAnnotator, mark, no_strokes
from experiments.interactive.objects import read_object
from experiments.interactive.photographs import VOID, Labels, StrokedPhoto, object_iou
from experiments.measurements import Row
from mixfield.interactive.canvas import Canvas
from mixfield.interactive.corrections import Correction
from mixfield.interactive.local_changes import local_features
from mixfield.interactive.region_field import region_field

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

MOST, ENOUGH = 8, 0.92  # clicks on an object, IoU at which there are no more
SAMPLED = 600  # pixels of each click
SHARES = (0.3, 0.6, 0.9, 1.0)  # of the wrong region that becomes right
SPILLED, SPILL = 0.3, (0.05, 0.5)  # probability that pixels become wrong, their number against the wrong region
ROUGH, SMOOTH = 0.3, 6.0  # logarithm of the noise of distances, and its scale in pixels
SMALLEST = 0.02  # share of the window below which wrong regions count alike
PENALTY = 1e-2  # of the squares of the weights of standardised features


def save_pixels(data: Path, name: str, network: Network) -> Row:
    """Pixels of the clicks on one object as a measurement: features, whether they belong to the error, and a weight."""
    photo = read_object(data, name, network)
    rng = np.random.default_rng([ord(letter) for letter in f"{name} {network}"])
    return {"object": name, "network": network, "clicks": _clicked(photo, rng)}


def _clicked(photo: StrokedPhoto, rng: np.random.Generator) -> list[Row]:
    assert photo.scores is not None
    labels, strokes, done = photo.scores.argmax(-1), no_strokes(photo.truth), []
    canvas = Canvas.of(photo.image).refined(labels)
    found: list[Row] = []
    while len(found) < MOST and object_iou(labels, photo.truth) < ENOUGH:
        click = PerfectAnnotator().next_click(labels, photo.truth)
        if click is None:
            break
        strokes = mark(strokes, click)
        done.append(Correction(click.row, click.column, click.label, labels))
        field = region_field(canvas, strokes, 2, probs=photo.scores)
        window, features = local_features(canvas, field, photo.scores, done)
        part, wrong = np.s_[window.rows, window.columns], _wrong_region(labels, photo.truth, click)
        counted = np.flatnonzero(window.inside & (photo.truth[part] != VOID))
        sample = rng.choice(counted, min(len(counted), SAMPLED), replace=False)
        values = features.reshape(-1, features.shape[-1])[sample].round(4)
        scale = len(counted) / len(sample) / max(wrong.sum(), SMALLEST * len(counted))
        found.append({"features": values.tolist(), "wrong": wrong[part].ravel()[sample].tolist(), "weight": scale})
        labels = _partly_corrected(labels, wrong, click, rng)
    return found


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


def fit_pixels(rows: Sequence[Row]) -> tuple[float, ...]:
    """The weights of a logistic model, the constant last; each click counts in proportion to its wrong region."""
    clicks = [click for row in rows for click in row["clicks"]]
    features = np.concatenate([np.array(click["features"]) for click in clicks])
    wrong = np.concatenate([np.array(click["wrong"], float) for click in clicks])
    weights = np.concatenate([np.full(len(click["wrong"]), click["weight"]) for click in clicks]) / len(clicks)
    means, scales = features.mean(0), features.std(0) + 1e-6
    standard = np.column_stack([(features - means) / scales, np.ones(len(features))])

    def loss(model: Floats) -> tuple[float, Floats]:
        values, small = standard @ model, np.append(model[:-1], 0.0)
        cost = float(weights @ (np.logaddexp(0, values) - wrong * values)) + PENALTY * float(small @ small)
        return cost, standard.T @ (weights * (expit(values) - wrong)) + 2 * PENALTY * small

    model = minimize(loss, np.zeros(standard.shape[1]), jac=True, method="L-BFGS-B").x
    slopes = model[:-1] / scales
    return tuple(float(value) for value in np.append(slopes, model[-1] - slopes @ means).round(2))
