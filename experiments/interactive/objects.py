"""Objects of photographs with network scores: a class of an image, the largest one at first, against everything else.

An object is named ``set/image`` if it is the largest class of its image, ``set/image/class`` otherwise.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from experiments.annotated import VOID as NOT_ANNOTATED
from experiments.annotated import AnnotatedFolder, Example, Network
from experiments.interactive.photographs import VOID, StrokedPhoto

SETS = ("voc", "coco")
KEPT_SET = "vocval7"  # nothing was ever chosen on
SMALLEST, LARGEST = 0.02, 0.6  # share of the image that the object must have
SMALL = 0.01  # the same of other classes that models are fitted to


def object_names(data: Path, sets: tuple[str, ...] = SETS) -> list[str]:
    """The images of some sets with an object of a reasonable size, that object in each."""
    found = []
    for name in sets:
        folder = AnnotatedFolder(data / "segmentation" / name, "dl513")
        found += [f"{name}/{image}" for image in folder.names if _has_object(folder, image)]
    return found


def judged_objects(data: Path) -> list[str]:
    """Those of every second image of `SETS`; models are fitted to the other images."""
    return object_names(data)[::2]


def kept_objects(data: Path) -> list[str]:
    """All classes of every second of these images and of `KEPT_SET`, that no choice for scores was made on."""
    images = [*judged_objects(data)[1::2], *object_names(data, (KEPT_SET,))]
    return [name for image in images for name in (image, *_other_objects(data, image))]


def _other_objects(data: Path, name: str) -> list[str]:
    """The classes of an image besides the largest one."""
    folder, image = name.split("/")
    truth = AnnotatedFolder(data / "segmentation" / folder, "dl513").truth(image)
    return [f"{name}/{one}" for one in classes_of(truth) if one != largest_class(truth)]


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
    """The image of an object with all classes."""
    folder, image = name.split("/")[:2]
    return AnnotatedFolder(data / "segmentation" / folder, network).load(image)


def read_object(data: Path, name: str, network: Network = "dl513") -> StrokedPhoto:
    """An object with the scores of a network."""
    example, wanted = read_example(data, name, network), name.split("/")[2:]
    return class_object(name, example, int(wanted[0]) if wanted else largest_class(example.truth))


def class_object(name: str, example: Example, wanted: int) -> StrokedPhoto:
    """One class of an image as the object; its scores are those of the class and of the best other class."""
    truth = np.where(example.truth == NOT_ANNOTATED, VOID, (example.truth == wanted).astype(np.int64))
    own, others = example.probs[..., wanted], np.delete(example.probs, wanted, axis=-1).max(-1)
    scores = np.stack([others, own], -1) / (own + others)[..., None]
    return StrokedPhoto(name, example.image, truth, {}, scores.astype(np.float32))
