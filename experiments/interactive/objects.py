"""Objects of photographs with network scores: the largest class of each image against everything else."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from experiments.annotated import VOID as NOT_ANNOTATED
from experiments.annotated import AnnotatedFolder, Example, Network
from experiments.interactive.photographs import VOID, StrokedPhoto

SETS = ("voc", "coco")
SMALLEST, LARGEST = 0.02, 0.6  # share of the image that the object must have
SMALL = 0.01  # the same of other classes that models are fitted to


def object_names(data: Path) -> list[str]:
    """``set/name`` of the images with an object of a reasonable size."""
    found = []
    for name in SETS:
        folder = AnnotatedFolder(data / "segmentation" / name, "dl513")
        found += [f"{name}/{image}" for image in folder.names if _has_object(folder, image)]
    return found


def _has_object(folder: AnnotatedFolder, image: str) -> bool:
    truth = folder.truth(image)
    return SMALLEST <= float((truth == largest_class(truth)).mean()) <= LARGEST


def largest_class(truth: NDArray[np.int64]) -> int:
    """The class other than background with most pixels."""
    counts = np.bincount(truth[truth != NOT_ANNOTATED], minlength=2)
    return 1 + int(counts[1:].argmax())


def classes_of(truth: NDArray[np.int64]) -> list[int]:
    """The classes other than background that have a reasonable share of the image."""
    shares = np.bincount(truth[truth != NOT_ANNOTATED], minlength=2) / truth.size
    return [int(one) for one in np.flatnonzero((shares >= SMALL) & (shares <= LARGEST)) if one > 0]


def read_example(data: Path, name: str, network: Network = "dl513") -> Example:
    """The image ``set/name`` with all classes."""
    folder, image = name.split("/")
    return AnnotatedFolder(data / "segmentation" / folder, network).load(image)


def read_object(data: Path, name: str, network: Network = "dl513") -> StrokedPhoto:
    """The object of an image."""
    example = read_example(data, name, network)
    return class_object(name, example, largest_class(example.truth))


def class_object(name: str, example: Example, wanted: int) -> StrokedPhoto:
    """One class of an image as the object; its scores are those of the class and of the best other class."""
    truth = np.where(example.truth == NOT_ANNOTATED, VOID, (example.truth == wanted).astype(np.int64))
    own, others = example.probs[..., wanted], np.delete(example.probs, wanted, axis=-1).max(-1)
    scores = np.stack([others, own], -1) / (own + others)[..., None]
    return StrokedPhoto(name, example.image, truth, {}, scores.astype(np.float32))
