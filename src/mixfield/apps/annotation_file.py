"""Annotations as files: JSON text with a version; label maps as runs of equal values."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mixfield import _files
from mixfield.errors import FileFormatError
from mixfield.interactive.annotation_actions import ERASED, Action, Answer, Choice, Stroke, label_type

StrPath = str | PathLike[str]
Row = dict[str, Any]
Ints = NDArray[np.int64]

FORMAT, VERSION = "mixfield-annotation", 1
LARGEST = 256 << 20  # bytes of a file
MOST_PIXELS = 1 << 30
MOST_LABELS = 1 << 16


def write(path: StrPath, names: Sequence[str], shape: tuple[int, int], actions: Sequence[Action]) -> None:
    """Write an annotation of an image of this shape; the file appears whole or not at all."""
    document = {
        "format": FORMAT,
        "version": VERSION,
        "labels": list(names),
        "shape": list(shape),
        "actions": [_row(action) for action in actions],
    }
    _files.write_text(path, json.dumps(document) + "\n")


def read(path: StrPath) -> tuple[tuple[str, ...], tuple[int, int], tuple[Action, ...]]:
    """Labels, shape of the image and actions; `FileFormatError` if the file is something else or damaged."""
    try:
        document = json.loads(_files.read_bytes(path, LARGEST))
    except (ValueError, RecursionError) as error:
        raise FileFormatError(f"{path} is not a saved annotation: {error}") from None
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise FileFormatError(f"{path} is not a saved annotation: it does not say {FORMAT!r}")
    if document.get("version") != VERSION:
        raise FileFormatError(
            f"{path} has version {document.get('version')!r}, this mixfield reads version {VERSION}; "
            "install the mixfield that wrote it, or a newer one"
        )
    try:
        names, shape = _names(document["labels"]), _shape(document["shape"])
        return names, shape, tuple(_action(row, len(names), shape) for row in document["actions"])
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise FileFormatError(f"{path} is damaged: {error!r}") from None


def _row(action: Action) -> Row:
    if isinstance(action, Stroke):
        row = {"stroke": [list(point) for point in action.points], "label": action.label, "radius": action.radius}
        return row if action.shown is None else {**row, **_shown(action.shown)}
    if isinstance(action, Answer):
        return {"answer": _runs(action.region), "label": action.label, **_shown(action.shown)}
    return {
        "choice": _runs(action.labels),
        "size": list(action.differ.shape),
        "differ": _runs(action.differ),
        "reduced": _runs(action.reduced),
    }


def _shown(labels: NDArray[Any]) -> Row:
    return {"shown": _runs(labels), "size": list(labels.shape)}


def _action(row: Row, n_labels: int, shape: tuple[int, int]) -> Action:
    if "stroke" in row:
        points = np.array(row["stroke"], np.float64)
        if points.ndim != 2 or points.shape[1] != 2 or not len(points) or not np.isfinite(points).all():
            raise ValueError("a stroke must have points of two finite numbers")
        radius = float(row["radius"])
        if not 0 < radius < np.inf:
            raise ValueError(f"a radius must be above 0, got {radius}")
        line = tuple((float(x), float(y)) for x, y in points)
        shown = _map(row["shown"], _size(row, shape), n_labels) if "shown" in row else None
        return Stroke(line, _label(row, n_labels, ERASED), radius, shown)
    size = _size(row, shape)
    if "answer" in row:
        region, shown = _map(row["answer"], size, 2).astype(bool), _map(row["shown"], size, n_labels)
        return Answer(region, _label(row, n_labels, 0), shown)
    labels = _map(row["choice"], shape, n_labels).astype(label_type(n_labels))
    differ, reduced = _map(row["differ"], size, 2).astype(bool), _map(row["reduced"], size, n_labels)
    return Choice(labels, differ, reduced)


def _size(row: Row, shape: tuple[int, int]) -> tuple[int, int]:
    """Height and width of the canvas."""
    size = _shape(row["size"])
    if size[0] > shape[0] or size[1] > shape[1]:
        raise ValueError(f"a region of {size} does not fit an image of {shape}")
    return size


def _runs(array: NDArray[Any]) -> list[int]:
    """Values and lengths of the runs of a flattened array, in turn."""
    flat = array.ravel()
    starts = np.concatenate([[0], np.flatnonzero(flat[1:] != flat[:-1]) + 1])
    lengths = np.diff(np.append(starts, flat.size))
    return [int(number) for number in np.stack([flat[starts].astype(np.int64), lengths], axis=1).ravel()]


def _map(runs: Any, shape: tuple[int, int], high: int) -> Ints:
    """The array of `_runs`, values from 0 to below ``high``."""
    pairs = _checked(runs, lambda array: array.ndim == 1 and array.size % 2 == 0).reshape(-1, 2)
    values, lengths = pairs.T
    if (lengths < 1).any() or int(lengths.sum()) != shape[0] * shape[1]:
        raise ValueError(f"runs must cover {shape[0]} x {shape[1]} pixels")
    if (values < 0).any() or (values >= high).any():
        raise ValueError(f"values must lie in 0..{high - 1}")
    return np.repeat(values, lengths).reshape(shape)


def _checked(values: Any, holds: Callable[[Ints], bool]) -> Ints:
    array = np.array(values)
    if array.dtype.kind != "i" or not holds(array):
        raise ValueError("a list of integers is missing")
    return array.astype(np.int64)


def _names(values: Any) -> tuple[str, ...]:
    if not isinstance(values, list) or not 2 <= len(values) <= MOST_LABELS:
        raise ValueError("labels must be a list of two or more names")
    if not all(isinstance(name, str) and name for name in values) or len(set(values)) < len(values):
        raise ValueError("labels must be different names")
    return tuple(values)


def _shape(values: Any) -> tuple[int, int]:
    height, width = (int(value) for value in _checked(values, lambda array: array.shape == (2,)))
    if not (height > 0 and width > 0 and height * width <= MOST_PIXELS):
        raise ValueError(f"an image cannot have {width} x {height} pixels")
    return height, width


def _label(row: Row, n_labels: int, low: int) -> int:
    label = row["label"]
    if isinstance(label, bool) or not isinstance(label, int) or not low <= label < n_labels:
        raise ValueError(f"label must lie in {low}..{n_labels - 1}, got {label!r}")
    return label
