"""Tracks as files: a table with a header (csv), its sidecar (json), and MOT Challenge text."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mixfield import _files
from mixfield.apps.tracker import RECORD
from mixfield.apps.tracking import Tracks
from mixfield.errors import FileFormatError
from mixfield.io.documents import read_json, read_lines
from mixfield.io.mot import mot_line
from mixfield.scene.view import View

StrPath = str | os.PathLike[str]

MAX_INTEGER, MAX_RATE = 2**53, 1e9  # of a sidecar
NO_BOX = (0, 0, 0, 0)
BLOCK = 10_000  # rows that are converted at once: their texts take 60 times the memory of the file

_TEXTS = [(name, "U32") for name in RECORD.names or ()]


@dataclass(frozen=True)
class TrackSidecar:
    """What ``mixfield track`` writes beside a table of tracks.

    Attributes
    ----------
    chosen_modes : the chosen mode by frame number.
    summary : as `Tracks.summary` returns it.
    frame_rate : frames per second; may be None.
    """

    chosen_modes: Mapping[int, int] = field(default_factory=dict)
    summary: Mapping[str, Any] = field(default_factory=dict)
    frame_rate: float | None = None


def write_csv(path: StrPath, tracks: Tracks, *, frames: Sequence[int] | None = None) -> None:
    """Write the table of tracks; ``frames`` are the frame numbers, 0, 1, 2, ... by default."""
    table = tracks.table.copy()
    table["frame"] = _frame_numbers(tracks, frames)[table["frame"]]
    with _files.draft(path) as draft, open(draft, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(RECORD.names or ())
        writer.writerows(table.tolist())


def read_csv(path: StrPath) -> NDArray[np.void]:
    """Read the table of tracks that `write_csv` wrote."""
    rows = csv.reader(read_lines(path))
    try:
        if tuple(next(rows, ())) != RECORD.names:
            raise FileFormatError(f"{path}: the first line must be {','.join(RECORD.names or ())}")
        blocks = [np.empty(0, RECORD)]
        while block := list(islice(rows, BLOCK)):
            blocks.append(np.array([tuple(row) for row in block], _TEXTS).astype(RECORD))
        return np.concatenate(blocks)
    except FileFormatError:
        raise
    except (csv.Error, ValueError, OverflowError) as error:
        raise FileFormatError(f"{path} is not a table of tracks: {error}") from None


def write_sidecar(path: StrPath, tracks: Tracks, *, frames: Sequence[int] | None = None) -> None:
    """Write chosen modes, summary and frame rate as JSON; ``frames`` as for `write_csv`."""
    content = {
        "summary": tracks.summary(),
        "chosen_modes": tracks.chosen_modes.tolist(),
        "frame_numbers": _frame_numbers(tracks, frames).tolist(),
        "frame_rate": tracks.frame_rate,
    }
    _files.write_text(path, json.dumps(content) + "\n")


def read_sidecar(path: StrPath) -> TrackSidecar:
    """Read the sidecar that `write_sidecar` wrote."""
    content = read_json(path)
    numbers, modes = content.get("frame_numbers", []), content.get("chosen_modes", [])
    summary, rate = content.get("summary", {}), content.get("frame_rate")
    paired = isinstance(numbers, list) and isinstance(modes, list) and len(numbers) == len(modes)
    if not paired or not all(type(value) is int and 0 <= value < MAX_INTEGER for value in (*numbers, *modes)):
        raise FileFormatError(f"{path}: frame_numbers and chosen_modes must be lists of integers of equal length")
    if rate is not None and not (isinstance(rate, (int, float)) and 0 < rate < MAX_RATE):
        raise FileFormatError(f"{path}: frame_rate must be a positive number or null, got {rate!r}")
    if not isinstance(summary, dict):
        raise FileFormatError(f"{path}: summary must be an object")
    return TrackSidecar(dict(zip(numbers, modes, strict=True)), summary, rate)


def write_mot(path: StrPath, tracks: Tracks, *, view: View | None = None, frames: Sequence[int] | None = None) -> None:
    """Write tracks as MOT Challenge text, see `mixfield.io.mot`.

    Parameters
    ----------
    path : the file.
    tracks : from `mixfield.track`.
    view : whose boxes are written; without it boxes are -1.
    frames : as for `write_csv`.
    """
    numbers = _frame_numbers(tracks, frames)
    lines = []
    for i in np.lexsort((tracks.table["identity"], tracks.table["frame"])).tolist():
        row = tracks.table[i]
        cell = row["row"] * tracks.ground.shape[1] + row["column"]
        box = NO_BOX if view is None else view.boxes[cell].tolist()
        confidence = f"{row['confidence']:.4f}"
        lines.append(mot_line(numbers[row["frame"]], row["identity"], box, confidence, row["x"], row["y"]))
    _files.write_text(path, "".join(lines))


def _frame_numbers(tracks: Tracks, frames: Sequence[int] | None) -> NDArray[np.int64]:
    return np.arange(tracks.frames) if frames is None else np.asarray(frames, np.int64)
