"""Annotations for other tools: indexed PNG, COCO, Label Studio, and stacks of alternatives."""

from __future__ import annotations

import io
import json
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mixfield import _files
from mixfield.annotate.folder import AnnotationFolder
from mixfield.errors import MixfieldError
from mixfield.io import coco, label_studio
from mixfield.io.images import pascal_palette
from mixfield.reports.png import encode_png

Files = dict[str, bytes]


@dataclass(frozen=True, eq=False)
class Annotated:
    """An annotated image.

    Attributes
    ----------
    name : of its file.
    is_done : whether it is marked as finished.
    answer : (H, W) labels.
    labelings : (N, H, W) alternatives, the heaviest mode first.
    weights : (N,) their weights.
    """

    name: str
    is_done: bool
    answer: NDArray[Any]
    labelings: NDArray[Any]
    weights: NDArray[np.float64]


def annotated(folder: AnnotationFolder) -> Iterator[Annotated]:
    """The images with a saved annotation."""
    for index, source in enumerate(folder.sources):
        if folder.is_started(index):
            annotation = folder.annotation(index)
            found = annotation.suggest()
            yield Annotated(
                source.image.name,
                folder.is_done(index),
                annotation.labels(),
                np.stack([one.labels for one in found]),
                np.array([one.weight for one in found]),
            )


def png_files(folder: AnnotationFolder) -> Files:
    """An indexed PNG for each image, with the colors of PASCAL VOC."""
    names = png_names([source.image.name for source in folder.sources])
    return {names[one.name]: encode_png(one.answer.astype(np.uint8), pascal_palette()) for one in annotated(folder)}


def png_names(images: Sequence[str]) -> dict[str, str]:
    """The label map of each image: ``a.png`` of ``a.jpg``, as `mixfield fit` takes it; ``a.jpg.png`` and ``a.bmp.png``
    of two images that are both called ``a``."""
    taken = Counter([Path(name).stem for name in images] + list(images))
    return {name: f"{Path(name).stem if taken[Path(name).stem] == 1 else name}.png" for name in images}


def coco_files(folder: AnnotationFolder) -> Files:
    """``coco.json``, the answers as run-length encoded masks."""
    images = [coco.LabelledImage(one.name, [one.answer], [1.0]) for one in annotated(folder)]
    return {"coco.json": _json(coco.coco_document(images, folder.names))}


def label_studio_files(folder: AnnotationFolder) -> Files:
    """Tasks with every alternative as a prediction, finished images with their answer as annotation; and the
    configuration of their project."""
    tasks = [
        label_studio.task(
            one.name, one.labelings, one.weights, folder.names, answer=one.answer if one.is_done else None
        )
        for one in annotated(folder)
    ]
    config = label_studio.config(folder.names)
    return {"label_studio.json": _json(tasks), "label_studio.xml": config.encode("utf-8", "replace")}


def stack_files(folder: AnnotationFolder) -> Files:
    """A ``.npz`` for each image: ``labels`` (N, H, W), ``weights`` (N,), ``answer`` (H, W) and ``names``."""
    return {f"{one.name}.npz": _stack(one, folder.names) for one in annotated(folder)}


FORMATS: dict[str, Callable[[AnnotationFolder], Files]] = {
    "png": png_files,
    "coco": coco_files,
    "label-studio": label_studio_files,
    "stack": stack_files,
}


def exported(folder: AnnotationFolder, kind: str) -> Files:
    """Names and contents of the files of an export, one of `FORMATS`."""
    if kind not in FORMATS:
        raise MixfieldError(f"export must be one of {', '.join(FORMATS)}, got {kind!r}")
    if not any(folder.is_started(index) for index in range(len(folder.sources))):
        raise MixfieldError("there is nothing to export: no image is annotated yet")
    return FORMATS[kind](folder)


def write_export(folder: AnnotationFolder, kind: str, out: Path) -> list[Path]:
    """Write the files of an export into a folder and return them."""
    contents = exported(folder, kind)
    out.mkdir(parents=True, exist_ok=True)
    for name, content in contents.items():
        _files.write_bytes(out / name, content)
    return [out / name for name in contents]


def download(folder: AnnotationFolder, kind: str) -> tuple[str, bytes]:
    """Name and content of one file with an export: a ZIP archive if it has several files."""
    contents = exported(folder, kind)
    if list(contents) == ["coco.json"]:
        return "coco.json", contents["coco.json"]
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in contents.items():
            archive.writestr(name.encode("utf-8", "backslashreplace").decode(), content)
    return f"{kind}.zip", stream.getvalue()


def _json(document: Any) -> bytes:
    return json.dumps(document).encode() + b"\n"


def _stack(one: Annotated, names: tuple[str, ...]) -> bytes:
    stream = io.BytesIO()
    np.savez_compressed(
        stream, labels=one.labelings, weights=one.weights, answer=one.answer, names=np.array(names, np.str_)
    )
    return stream.getvalue()
