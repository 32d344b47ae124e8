"""The measurements on videos: one per sequence and field."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from experiments.annotated import AnnotatedFolder, Network
from experiments.measurements import Row
from experiments.video.frame import FIELDS, Frame

KINDS: tuple[tuple[str, Network], ...] = (("camvid", "espnet"), ("davis", "dl513"))
SPACINGS = (1, 2, 3)  # of the frames: faster motion, to fit on


def sequences(data: Path) -> list[AnnotatedFolder]:
    """All annotated sequences."""
    return [
        AnnotatedFolder(folder, net)
        for kind, net in KINDS
        for folder in sorted((data / "video" / kind).iterdir())
        if folder.is_dir()
    ]


def tasks(data: Path, *, count: int, every: int, step: int) -> dict[str, tuple[Any, ...]]:
    """Name and values of every measurement."""
    return {
        f"{field} {source.folder.name}": (source.folder, source.net, field, count, every, step)
        for source in sequences(data)
        for field in FIELDS
    }


def measure(folder: Path, net: Network, field: str, count: int, every: int, step: int) -> Row:
    """The modes of all frames of a sequence, and what the temporal choice sees of them.

    Parameters
    ----------
    folder, net : a sequence and its network.
    field : one of `FIELDS`.
    count : number of modes.
    every : one frame in so many is used.
    step : frames are reduced to means of blocks of so many pixels along a side.
    """
    source = AnnotatedFolder(folder, net)
    frames = [Frame(source.load(name).reduced(step), field, count) for name in source.names[::every]]
    return {
        "kind": folder.parent.name,
        "sequence": folder.name,
        "field": field,
        "frames": [frame.row(source.n_labels) for frame in frames],
        "chains": [
            {"spacing": spacing, "start": start, **chain(frames[start::spacing])}
            for spacing in SPACINGS
            for start in range(spacing)
        ],
    }


def chain(frames: Sequence[Frame]) -> Row:
    """Likeness of the modes of each frame, given the colours of all others, and gains in overlap between successive."""
    total = sum(frame.modes.histograms for frame in frames)
    return {
        "likeness": [frame.modes.likeness(total - frame.modes.histograms).round(4).tolist() for frame in frames],
        "gains": [before.modes.gains(after.modes).round(4).tolist() for before, after in pairwise(frames)],
    }
