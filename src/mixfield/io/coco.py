"""Segmentations for tools that read COCO: run-length encoded masks, and panoptic PNGs.

A field has labels, not instances: an annotation or a segment is the region of a label, all its parts together.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mixfield._labels import label_name

Labels = NDArray[np.integer[Any]]
Document = dict[str, Any]

FIVE_BITS, CONTINUES, SIGN, OFFSET = 31, 32, 16, 48  # of the characters of compressed counts


@dataclass(frozen=True, eq=False)
class LabelledImage:
    """An image with its label maps.

    Attributes
    ----------
    file_name : of the image.
    labelings : (H, W) labels of each mode, the most probable first.
    weights : probabilities of the modes.
    """

    file_name: str
    labelings: Sequence[Labels]
    weights: Sequence[float]


def rle_counts(mask: NDArray[np.bool_]) -> list[int]:
    """Lengths of the runs of zeros and ones of a mask (H, W), column by column, beginning with zeros."""
    flat = np.concatenate([[False], np.asarray(mask, bool).ravel(order="F")])
    starts = np.flatnonzero(flat[1:] != flat[:-1])
    return np.diff(np.concatenate([[0], starts, [mask.size]])).tolist()


def compressed(counts: Sequence[int]) -> str:
    """Counts as the text that pycocotools reads: differences from the count before the last, five bits a character."""
    text = []
    for k, count in enumerate(counts):
        value = count - counts[k - 2] if k > 2 else count
        more = True
        while more:
            bits = value & FIVE_BITS
            value >>= 5
            more = value != -1 if bits & SIGN else value != 0
            text.append(chr((bits | CONTINUES if more else bits) + OFFSET))
    return "".join(text)


def coco_document(images: Iterable[LabelledImage], names: Sequence[str] = ()) -> Document:
    """A COCO document with one annotation for each image, mode and label.

    Annotations have, besides the usual fields, ``mode`` (from 1) and ``score``, the probability of the mode.  The
    category of label k is k.
    """
    found = list(images)
    annotations: list[Document] = []
    for number, image in enumerate(found, 1):
        for k, (labels, weight) in enumerate(zip(image.labelings, image.weights, strict=True), 1):
            for label in np.unique(labels).tolist():
                entry = _region(labels == label, label) | {"image_id": number, "mode": k, "score": float(weight)}
                annotations.append({"id": len(annotations) + 1, **entry})
    return {
        "images": [_image(number, image) for number, image in enumerate(found, 1)],
        "annotations": annotations,
        "categories": _categories(found, names),
    }


def _region(mask: NDArray[np.bool_], label: int) -> Document:
    counts = compressed(rle_counts(mask))
    segmentation = {"size": list(mask.shape), "counts": counts}
    return {"category_id": label, "segmentation": segmentation, "iscrowd": 0} | _extent(mask)


def _extent(mask: NDArray[np.bool_]) -> Document:
    """Area, and left, top, width and height of the bounding box."""
    rows, columns = np.flatnonzero(mask.any(1)), np.flatnonzero(mask.any(0))
    left, top = int(columns[0]), int(rows[0])
    box = [left, top, int(columns[-1]) - left + 1, int(rows[-1]) - top + 1]
    return {"area": int(mask.sum()), "bbox": box}


def panoptic_pixels(labels: Labels) -> NDArray[np.uint8]:
    """(H, W, 3) colors whose red + 256 green + 65536 blue is the segment, label plus one; 0 is void."""
    segments = np.asarray(labels, np.int64) + 1
    return np.stack([segments & 255, segments >> 8 & 255, segments >> 16 & 255], axis=-1).astype(np.uint8)


def panoptic_document(images: Iterable[LabelledImage], names: Sequence[str] = ()) -> Document:
    """A panoptic document of the most probable modes; the pictures are `panoptic_pixels`."""
    found = list(images)
    annotations = []
    for number, image in enumerate(found, 1):
        labels = np.asarray(image.labelings[0])
        segments = [
            {"id": label + 1, "category_id": label, "iscrowd": 0} | _extent(labels == label)
            for label in np.unique(labels).tolist()
        ]
        annotations.append({"image_id": number, "file_name": panoptic_name(image), "segments_info": segments})
    return {
        "images": [_image(number, image) for number, image in enumerate(found, 1)],
        "annotations": annotations,
        "categories": [category | {"isthing": 0} for category in _categories(found, names)],
    }


def panoptic_name(image: LabelledImage) -> str:
    """The file name of a panoptic picture."""
    return f"{image.file_name.rpartition('.')[0] or image.file_name}.png"


def _image(number: int, image: LabelledImage) -> Document:
    height, width = image.labelings[0].shape
    return {"id": number, "file_name": image.file_name, "height": height, "width": width}


def _categories(images: Sequence[LabelledImage], names: Sequence[str]) -> list[Document]:
    """All named labels, and those that occur."""
    present = {label for image in images for labels in image.labelings for label in np.unique(labels).tolist()}
    every = sorted(present | set(range(len(names))))
    return [{"id": k, "name": label_name(k, names)} for k in every]
