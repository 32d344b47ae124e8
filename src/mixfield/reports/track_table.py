"""Tracks on a page: positions for the script, and a table of numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mixfield.apps.tracking import Tracks
from mixfield.reports.page import section, table

NUMBERS = {  # of Tracks.summary(): name on a page and format
    "frames": ("frames", "{}"),
    "tracks": ("tracks", "{}"),
    "people_per_frame": ("people per frame", "{:.1f}"),
    "median_length": ("median length of a track", "{:g} frames"),
    "median_speed": ("median speed", "{:.2f} {unit}"),
    "fastest": ("fastest step", "{:.2f} {unit}"),
    "steps_at_limit": ("steps at the speed limit", "{:.0%}"),
    "unseen": ("positions on tracks with a probability below one half", "{:.0%}"),
    "frames_not_heaviest": ("frames with another mode than the heaviest", "{}"),
    "cost": ("cost", "{:.3f}"),
    "bound": ("lower bound of the cost", "{:.3f}"),
    "gap_percent": ("distance of the cost from the bound", "{:.3f} %"),
}


@dataclass(frozen=True, eq=False)
class TrackTable:
    """What a page shows of tracks.

    Attributes
    ----------
    table : one record for each person in each frame, as `Tracks.table`; ``frame`` is the index in the sequence.
    chosen_modes : (T,) the chosen mode of each frame.
    summary : numbers by name, as `Tracks.summary` returns them; may be empty.
    frame_rate : frames per second; may be None.
    """

    table: NDArray[np.void]
    chosen_modes: NDArray[np.int64]
    summary: Mapping[str, Any]
    frame_rate: float | None = None

    @staticmethod
    def of(tracks: Tracks) -> TrackTable:
        """The table of the result of `mixfield.track`."""
        return TrackTable(tracks.table, tracks.chosen_modes, tracks.summary(), tracks.frame_rate)

    @property
    def count(self) -> int:
        """Number of tracks."""
        return len(np.unique(self.table["identity"]))

    def facts(self) -> list[list[Any]]:
        """For each track its identity, first frame, and x, y and confidence in each frame."""
        table = np.sort(self.table, order=("identity", "frame"))
        identities, starts = np.unique(table["identity"], return_index=True)
        tracks = np.split(table, starts[1:]) if len(table) else []
        return [
            [identity, int(rows["frame"][0]), [_position(row) for row in rows]]
            for identity, rows in zip(identities.tolist(), tracks, strict=True)
        ]

    def section(self) -> str:
        """The summary as a section of a page."""
        if not self.summary:
            return ""
        unit = self.summary.get("speed_unit", "")
        rows = [
            (label, shown.format(value, unit=unit) if isinstance(value, int | float) else value)
            for name, (label, shown) in NUMBERS.items()
            if (value := self.summary.get(name)) is not None
        ]
        return section("numbers", "Numbers", table(("", ""), rows, caption="The tracks in numbers"))


def _position(row: np.void) -> list[float]:
    return [round(float(row["x"]), 3), round(float(row["y"]), 3), round(float(row["confidence"]), 2)]
