"""Tracks as files: a table with a header (csv), and MOT Challenge text for motmetrics and TrackEval."""

from __future__ import annotations

import csv
import os
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from mixfield import _files
from mixfield.apps.tracking import RECORD, Tracks
from mixfield.errors import FileFormatError
from mixfield.io.documents import read_text
from mixfield.scene.view import View

StrPath = str | os.PathLike[str]


def write_csv(path: StrPath, tracks: Tracks, *, frames: Sequence[int] | None = None) -> None:
    """Write the table of tracks; ``frames`` are the numbers of the frames, 0, 1, 2, ... if not given."""
    table = tracks.table.copy()
    table["frame"] = _numbers(tracks, frames)[table["frame"]]
    with _files.draft(path) as draft, open(draft, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(RECORD.names or ())
        writer.writerows(table.tolist())


def read_csv(path: StrPath) -> NDArray[np.void]:
    """The table of tracks that `write_csv` wrote."""
    try:
        rows = list(csv.reader(read_text(path).splitlines()))
    except csv.Error as error:
        raise FileFormatError(f"{path} is not a table of tracks: {error}") from None
    if not rows or tuple(rows[0]) != RECORD.names:
        raise FileFormatError(f"{path}: the first line must be {','.join(RECORD.names or ())}")
    try:
        return np.array([tuple(row) for row in rows[1:]], [(name, "U32") for name in rows[0]]).astype(RECORD)
    except (ValueError, OverflowError) as error:
        raise FileFormatError(f"{path} is not a table of tracks: {error}") from None


def write_mot(path: StrPath, tracks: Tracks, *, view: View | None = None, frames: Sequence[int] | None = None) -> None:
    """Write ``frame, id, left, top, width, height, confidence, x, y, z``: frames and ids from 1, metres on the ground.

    The box is that of the person in ``view``, -1 where that is not known or not visible.
    """
    numbers = _numbers(tracks, frames)
    cells = tracks.table["row"] * tracks.ground.shape[1] + tracks.table["column"]
    boxes = np.full((len(cells), 4), -1) if view is None else view.boxes[cells]
    lines = []
    for i in np.lexsort((tracks.table["identity"], tracks.table["frame"])).tolist():
        row = tracks.table[i]
        left, top, right, bottom = boxes[i].tolist()
        box = (left, top, right - left, bottom - top) if right > left else (-1, -1, -1, -1)
        lines.append(
            f"{numbers[row['frame']] + 1},{row['identity'] + 1},{','.join(map(str, box))},"
            f"{row['confidence']:.4f},{row['x']:.4f},{row['y']:.4f},0\n"
        )
    _files.write_text(path, "".join(lines))


def _numbers(tracks: Tracks, frames: Sequence[int] | None) -> NDArray[np.int64]:
    return np.arange(tracks.frames) if frames is None else np.asarray(frames, np.int64)
