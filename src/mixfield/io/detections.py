"""Detections of people from files: tables (csv), records (json), MOT Challenge text, COCO results."""

from __future__ import annotations

import csv
import math
import os
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from mixfield.apps.detections import CERTAIN, Detections, make_detections
from mixfield.errors import FileFormatError, MixfieldError
from mixfield.io.documents import read_json_list, read_lines

StrPath = str | os.PathLike[str]
Record = Mapping[str, Any]
Row = tuple[float, float, float, float, float, float, float, float, str]  # frame, box, point, score, camera

NAMES = {  # by which files call the columns
    "frame": ("frame", "frame_id", "image_id", "frame_number"),
    "camera": ("camera", "view", "cam", "camera_id", "view_id"),
    "score": ("score", "confidence", "conf", "probability"),
    "left": ("left", "xmin", "x1", "bb_left"),
    "top": ("top", "ymin", "y1", "bb_top"),
    "right": ("right", "xmax", "x2"),
    "bottom": ("bottom", "ymax", "y2"),
    "x": ("x", "ground_x", "x_m"),
    "y": ("y", "ground_y", "y_m"),
    "width": ("w", "width", "bb_width"),
    "height": ("h", "height", "bb_height"),
}
COCO_PERSON = 1
MAX_DETECTIONS = 300_000  # of a file: two seconds
MAX_LINE, LONGEST_NAME = 10_000, 100  # characters
NAN = math.nan


def read_detections(path: StrPath) -> Detections:
    """Read the detections of people in any number of frames and cameras.

    Parameters
    ----------
    path : ``.csv`` with a header, ``.json`` with a list of records, or ``.txt`` of MOT Challenge.  Columns of a table
        and keys of a record are ``frame``, ``camera`` (a number or a name), ``score``, and either a box in pixels
        (``left``, ``top``, ``right``, ``bottom``, or ``x``, ``y`` of its upper left corner with ``w`` and ``h``) or a
        point of the ground in metres (``x`` and ``y`` alone).  Results of COCO (``image_id``, ``bbox``, ``score``) are
        a list of records too, of which those of category 1 are people.
    """
    suffix = Path(path).suffix.lower()
    readers: dict[str, Callable[[StrPath], Iterator[Row]]] = {".csv": _table, ".json": _records, ".txt": _mot}
    if suffix not in readers:
        raise FileFormatError(f"{path}: detections are .csv, .json or .txt (MOT)")
    rows: list[Row] = []
    try:
        for row in readers[suffix](path):
            rows.append(row)
            if len(rows) > MAX_DETECTIONS:
                raise FileFormatError(f"{path} has more than {MAX_DETECTIONS} detections; divide it")
        return _detections(rows)
    except FileFormatError:
        raise
    except (ValueError, TypeError, OverflowError, csv.Error, MixfieldError) as error:
        raise FileFormatError(f"{path}: {error}") from None


def _detections(rows: list[Row]) -> Detections:
    numbers = np.array([row[:8] for row in rows], np.float64).reshape(-1, 8)
    if not (np.abs(numbers[:, 0]) <= 1e9).all():
        raise ValueError("frames must be whole numbers up to a thousand million")
    names, camera = _cameras([row[8] for row in rows])
    return make_detections(
        numbers[:, 0], boxes=numbers[:, 1:5], points=numbers[:, 5:7], scores=numbers[:, 7], camera=camera, cameras=names
    )


def _cameras(cells: list[str]) -> tuple[tuple[str, ...], list[int]]:
    """Names and indices: whole numbers are indices, anything else is a name."""
    if all(cell.isdecimal() and len(cell) < 6 for cell in cells):
        return (), [int(cell) for cell in cells]
    names = sorted(set(cells))
    index = {name: k for k, name in enumerate(names)}
    return tuple(names), [index[cell] for cell in cells]


def _lines(path: StrPath) -> Iterator[str]:
    """The lines of a file; long ones are refused, since their cells take 30 times the memory."""
    for number, line in enumerate(read_lines(path), 1):
        if len(line) > MAX_LINE:
            raise ValueError(f"line {number} has more than {MAX_LINE} characters")
        yield line


def _table(path: StrPath) -> Iterator[Row]:
    reader = csv.reader(_lines(path))
    header = [_column(name) for name in next(reader, [])]
    for number, cells in enumerate(reader, 2):
        if cells:
            named = {key: cell for key, cell in zip(header, cells, strict=False) if key and cell != ""}
            yield _row(named, f"line {number}")


def _column(name: str) -> str:
    """The key of `NAMES` of a column, empty for other columns."""
    lower = name.strip().lower()
    return next((key for key, names in NAMES.items() if lower in names), "")


def _records(path: StrPath) -> Iterator[Row]:
    for number, record in enumerate(read_json_list(path)):
        if not isinstance(record, dict):
            raise ValueError(f"record {number} must be an object, got {type(record).__name__}")
        if "bbox" not in record:
            named = {_column(str(key)): value for key, value in record.items()}
            yield _row({key: value for key, value in named.items() if key and value is not None}, f"record {number}")
        elif record.get("category_id", COCO_PERSON) == COCO_PERSON:
            yield _coco_row(record, f"record {number}")


def _coco_row(record: Record, where: str) -> Row:
    box = record["bbox"]
    if not isinstance(box, list) or len(box) != 4:
        raise ValueError(f"{where}: bbox must be left, top, width, height, got {str(box)[:40]}")
    left, top, width, height = (_number(value, "bbox", where) for value in box)
    named = {"frame": _frame(record, where), "score": record.get("score", CERTAIN)}
    corner = {"left": left, "top": top, "width": width, "height": height}
    return _row(named | corner | {"camera": record.get("camera", 0)}, where)


def _frame(record: Record, where: str) -> float:
    """The number of an image; of a name, such as a file, the last number in it."""
    value = record.get("image_id")
    digits = re.findall(r"\d{1,9}", value) if isinstance(value, str) else [value]
    if not digits:
        raise ValueError(f"{where}: image_id {str(value)[:40]!r} has no number")
    return _number(digits[-1], "image_id", where)


def _mot(path: StrPath) -> Iterator[Row]:
    """Lines of frame, id, left, top, width, height, confidence, x, y, z; frames from 1, -1 where nothing is known."""
    for number, line in enumerate(_lines(path), 1):
        if not line.strip():
            continue
        cells = [_number(cell, "MOT", f"line {number}") for cell in re.split(r"[,\s]+", line.strip(" ,\t"))]
        if len(cells) < 6:
            raise ValueError(f"line {number}: MOT needs frame, id, left, top, width, height, got {len(cells)} numbers")
        frame, _, left, top, width, height, score, x, y = (*cells[:9], *[-1.0] * (9 - len(cells[:9])))
        known = score if 0 <= score <= 1 else CERTAIN
        box = (left, top, left + width, top + height) if width > 0 and height > 0 else (NAN,) * 4
        on_ground = (x, y) if width <= 0 or height <= 0 else (NAN, NAN)
        yield (frame - 1, *box, *on_ground, known, "0")


def _row(found: Record, where: str) -> Row:
    """A detection from values by the keys of `NAMES`."""
    if "frame" not in found:
        raise ValueError(f"{where} has no frame; known columns in it are {', '.join(found) or 'none'}")
    value = {key: _number(cell, key, where) for key, cell in found.items() if key != "camera"}
    camera = str(found.get("camera", 0)).strip()[:LONGEST_NAME]
    return (value["frame"], *_box_and_point(value, where), value.get("score", CERTAIN), camera)


def _box_and_point(value: Mapping[str, float], where: str) -> tuple[float, float, float, float, float, float]:
    if {"left", "top", "right", "bottom"} <= set(value):
        return value["left"], value["top"], value["right"], value["bottom"], NAN, NAN
    corner = ("left", "top") if {"left", "top"} <= set(value) else ("x", "y")
    if {*corner, "width", "height"} <= set(value):
        left, top = value[corner[0]], value[corner[1]]
        return left, top, left + value["width"], top + value["height"], NAN, NAN
    if {"x", "y"} <= set(value):
        return NAN, NAN, NAN, NAN, value["x"], value["y"]
    raise ValueError(f"{where} has neither a box (left, top, right, bottom or x, y, w, h) nor a point (x, y)")


def _number(cell: Any, name: str, where: str) -> float:
    try:
        value = float(cell)
    except (TypeError, ValueError):
        value = NAN
    if not abs(value) <= 1e12:
        raise ValueError(f"{where}: {name} must be a number, got {str(cell)[:40]!r}")
    return value
