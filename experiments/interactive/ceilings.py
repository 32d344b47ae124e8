"""What no method of clicks can pass: the best labeling of superpixels, and clicks that correct whole wrong regions."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from experiments.annotated import Network
from experiments.interactive.annotator import wrong_regions
from experiments.interactive.objects import read_object
from experiments.interactive.person import MOST, WANTED
from experiments.interactive.photographs import OBJECT, VOID, Labels, object_iou
from experiments.measurements import Row
from mixfield.interactive.canvas import Canvas


def measure_ceiling(data: Path, name: str, network: Network) -> Row:
    """IoU of the best labelings of uniform and of refined superpixels, and the number of ideal clicks."""
    photo = read_object(data, name, network)
    assert photo.scores is not None
    labels, canvas = photo.scores.argmax(-1), Canvas.of(photo.image)
    refined = canvas.refined(canvas.reduce_map(labels))
    return {
        "photo": name,
        "network": network,
        "uniform": best_iou(canvas, photo.truth),
        "refined": best_iou(refined, photo.truth),
        "ideal": ideal_clicks(labels, photo.truth),
    }


def best_iou(canvas: Canvas, truth: Labels) -> float:
    """IoU if each superpixel has the label of most of its pixels, with borders that follow the image."""
    counts = [np.bincount(canvas.regions.ravel(), part.ravel()) for part in (truth == OBJECT, truth != VOID)]
    inside = (counts[0] > 0.5 * counts[1]).astype(np.float32)[canvas.regions]
    return object_iou(canvas.border_filter.apply(inside, canvas.full) > 0.5, truth)


def ideal_clicks(labels: NDArray[np.integer], truth: Labels) -> int:
    """Number of clicks to the wanted IoU if each corrects all of the largest wrong region and nothing else."""
    labels, count = labels.copy(), 0
    while count < MOST and object_iou(labels, truth) < WANTED:
        regions, sizes = wrong_regions(labels, truth)
        largest = regions == 1 + int(sizes.argmax())
        labels[largest] = truth[largest]
        count += 1
    return count
