"""Segmentations for Label Studio: tasks with several predictions, regions as run-length encoded brushes.

A task is imported with ``project.import_tasks`` of ``label-studio-sdk``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any
from urllib.parse import quote
from xml.sax.saxutils import quoteattr

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mixfield import __version__

Document = dict[str, Any]
Labels = NDArray[np.integer[Any]]

FROM, TO = "labels", "image"  # names of the controls of `config`
LOCAL_FILES = "/data/local-files/?d="  # where Label Studio serves files of its own machine
WORD, CHANNELS = 8, 4  # bits of a channel; a brush is an RGBA picture
LENGTH_BITS = (3, 4, 8, 16)  # of the four kinds of runs


def brush(mask: NDArray[np.bool_]) -> list[int]:
    """Bytes of a mask (H, W) in the run-length format of Label Studio's brushes.

    A stream of bits, highest first: number of words (32 bits), bits of a word minus one (5), bits of the four kinds of
    lengths minus one (4 each); then for each run a one, its kind (2), its length minus one, and the word that repeats.
    """
    bits = [f"{CHANNELS * mask.size:032b}{WORD - 1:05b}", *(f"{size - 1:04b}" for size in LENGTH_BITS)]
    bits += [_run_bits(length, value) for length, value in _runs(mask)]
    stream = "".join(bits)
    padded = stream + "0" * (-len(stream) % 8)
    return list(int(padded, 2).to_bytes(len(padded) // 8, "big"))


def _runs(mask: NDArray[np.bool_]) -> Iterator[tuple[int, int]]:
    """Lengths in words, as far as a run can be long, and values of the runs of a mask, row by row."""
    flat = np.asarray(mask, bool).ravel()
    starts = np.concatenate([[0], np.flatnonzero(flat[1:] != flat[:-1]) + 1])
    lengths = CHANNELS * np.diff(np.append(starts, flat.size))
    longest = 1 << LENGTH_BITS[-1]
    for length, is_set in zip(lengths.tolist(), flat[starts].tolist(), strict=True):
        for begin in range(0, length, longest):
            yield min(longest, length - begin), 255 if is_set else 0


def _run_bits(length: int, value: int) -> str:
    kind = next(k for k, size in enumerate(LENGTH_BITS) if length <= 1 << size)
    return f"1{kind:02b}{length - 1:0{LENGTH_BITS[kind]}b}{value:0{WORD}b}"


def task(
    file_name: str,
    labelings: Sequence[Labels] | Labels,
    weights: ArrayLike,
    names: Sequence[str],
    *,
    answer: Labels | None = None,
) -> Document:
    """A task with a prediction for each alternative.

    Parameters
    ----------
    file_name : of the image, relative to the folder of Label Studio's local files.
    labelings : (N, H, W) labels of the alternatives, the heaviest mode first.
    weights : (N,) their weights, which become scores.
    names : of the labels.
    answer : (H, W) labels that a person agreed to, which become an annotation.
    """
    predictions = [
        {"model_version": f"mixfield {__version__}, mode {k}", "score": float(weight), "result": regions(labels, names)}
        for k, (labels, weight) in enumerate(zip(labelings, np.asarray(weights).tolist(), strict=True), 1)
    ]
    found: Document = {"data": {TO: LOCAL_FILES + quote(file_name, errors="surrogateescape")}}
    found["predictions"] = predictions
    return found if answer is None else found | {"annotations": [{"result": regions(answer, names)}]}


def regions(labels: Labels, names: Sequence[str]) -> list[Document]:
    """A brush for each label of a label map (H, W)."""
    height, width = labels.shape
    return [
        {
            "id": f"label-{label}",
            "type": "brushlabels",
            "from_name": FROM,
            "to_name": TO,
            "original_width": width,
            "original_height": height,
            "image_rotation": 0,
            "value": {"format": "rle", "rle": brush(labels == label), "brushlabels": [names[label]]},
        }
        for label in np.unique(labels).tolist()
    ]


def config(names: Sequence[str]) -> str:
    """The labeling configuration of a project for such tasks, XML."""
    lines = [f"    <Label value={quoteattr(name)}/>" for name in names]
    return "\n".join(
        [
            "<View>",
            f'  <Image name="{TO}" value="${TO}" zoom="true"/>',
            f'  <BrushLabels name="{FROM}" toName="{TO}">',
            *lines,
            "  </BrushLabels>",
            "</View>",
            "",
        ]
    )
