"""``mixfield track --follow``: tracks of a folder of posteriors that is still growing."""

from __future__ import annotations

import csv
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mixfield.apps.tracker import Tracker, TrackSegment

PAUSE = 0.2  # seconds between two looks at the folder


def follow_folder(folder: Path, tracker: Tracker, out: Path, patience: float) -> dict[str, Any]:
    """Write the tracks of the posteriors in ``folder`` to the table ``out``, as soon as they are final.

    Frames are taken in the order of their numbers; one that appears after a later one is left out, and counted.  Ends
    when no file has come for ``patience`` seconds.
    """
    import mixfield as mf
    from mixfield.apps.tracker import RECORD

    numbers: list[int] = []
    identities: set[int] = set()
    with out.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(RECORD.names or ())

        def write(segments: list[TrackSegment]) -> None:
            for segment in segments:
                table = segment.table.copy()
                table["frame"] = [numbers[t] for t in segment.table["frame"]]
                writer.writerows(table.tolist())
                identities.update(table["identity"].tolist())
            file.flush()

        late = 0
        for number, path in new_files(folder, patience):
            if numbers and number <= numbers[-1]:
                late += 1
                continue
            numbers.append(number)
            write(tracker.update(mf.load(path)))
        write(tracker.finish())
    return {"frames": len(numbers), "tracks": len(identities), "late": late, "table": str(out)}


def new_files(folder: Path, patience: float) -> Iterator[tuple[int, Path]]:
    """Frame numbers and paths of the .npz files of a folder, each once; ends after ``patience`` idle seconds."""
    known: set[Path] = set()
    last = time.monotonic()
    while time.monotonic() - last <= patience:
        fresh = sorted((frame_number(path, len(known)), path) for path in set(folder.glob("*.npz")) - known)
        known.update(path for _, path in fresh)
        yield from fresh
        if fresh:
            last = time.monotonic()
        else:
            time.sleep(min(PAUSE, patience))


def frame_number(path: Path, default: int) -> int:
    """The frame number in a file name: its last number."""
    digits = re.findall(r"\d+", path.stem)
    return int(digits[-1]) if digits else default


def follow_summary(facts: dict[str, Any]) -> str:
    """One line for people."""
    late = f", {facts['late']} frames came too late" if facts["late"] else ""
    return f"{facts['tracks']} tracks in {facts['frames']} frames{late}; wrote {facts['table']}"
