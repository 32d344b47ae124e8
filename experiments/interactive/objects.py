"""Objects of photographs with network scores: the largest class of each image against everything else."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from experiments.annotated import VOID as NOT_ANNOTATED
from experiments.annotated import AnnotatedFolder, Network
from experiments.interactive.photographs import VOID, StrokedPhoto

SETS = ("voc", "coco")
SMALLEST, LARGEST = 0.02, 0.6  # share of the image that the object must have


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


def read_object(data: Path, name: str, network: Network = "dl513") -> StrokedPhoto:
    """The object of an image; its scores are those of its class and of the best other class."""
    folder, image = name.split("/")
    example = AnnotatedFolder(data / "segmentation" / folder, network).load(image)
    wanted = largest_class(example.truth)
    truth = np.where(example.truth == NOT_ANNOTATED, VOID, (example.truth == wanted).astype(np.int64))
    own, others = example.probs[..., wanted], np.delete(example.probs, wanted, axis=-1).max(-1)
    scores = np.stack([others, own], -1) / (own + others)[..., None]
    return StrokedPhoto(name, example.image, truth, {}, scores.astype(np.float32))
