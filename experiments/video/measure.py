"""The measurements on videos: one per frame."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

from experiments.annotated import AnnotatedFolder, Network
from experiments.measurements import Row
from experiments.video.frame import Frame

KINDS: tuple[tuple[str, Network], ...] = (("camvid", "espnet"), ("davis", "dl513"))


def sequences(data: Path) -> list[AnnotatedFolder]:
    """All annotated sequences."""
    return [
        AnnotatedFolder(folder, net)
        for kind, net in KINDS
        for folder in sorted((data / "video" / kind).iterdir())
        if folder.is_dir()
    ]


def tasks(data: Path, *, count: int, every: int, step: int = 1) -> dict[str, tuple[Any, ...]]:
    """Name and values of every measurement: a frame, and the one before it."""
    return {
        f"{source.folder.name} {names[t]}": (
            source.folder,
            source.net,
            tuple(names[max(0, t - 1) : t + 1]),
            count,
            step,
        )
        for source in sequences(data)
        for names in [source.names[::every]]
        for t in range(len(names))
    }


def measure(folder: Path, net: Network, names: tuple[str, ...], count: int, step: int) -> Row:
    """The modes of the last of one or two successive frames, against the truth and the frame before.

    Parameters
    ----------
    folder, net : a sequence and its network.
    names : the frame before, if there is one, and the frame.
    count : number of modes.
    step : frames are reduced to means of blocks of so many pixels along a side.
    """
    *before, frame = (_frame(folder, net, name, count, step) for name in names)
    place = {"kind": folder.parent.name, "sequence": folder.name, "frame": names[-1]}
    return place | frame.row(_source(folder, net).n_labels, *before)


@lru_cache(maxsize=1)
def _source(folder: Path, net: Network) -> AnnotatedFolder:
    return AnnotatedFolder(folder, net)


@lru_cache(maxsize=2)  # the next measurement needs a frame again
def _frame(folder: Path, net: Network, name: str, count: int, step: int) -> Frame:
    return Frame(_source(folder, net).load(name).reduced(step), count)
