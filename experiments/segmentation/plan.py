"""The measurements on still images, in the order in which they are made."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from experiments.annotated import AnnotatedFolder, Network
from experiments.segmentation.methods import methods

SETS = ("voc", "vocval7", "coco")
NETWORKS: tuple[Network, ...] = ("dl513", "dl257")
TUNED = {"dl513": ("DivMBest 0.5", "noise 1"), "dl257": ("DivMBest 1", "noise 2")}  # best on the images tuned on
SECONDARY = ("ours, firm", "restarts", "paper", "single pixels")
DEFAULT_COUNT = 8  # segmentations of most images
EVERY = 7  # one image in seven gets more segmentations, and all methods
STEPS = (3, 1)  # a third of the size, and full resolution


class Task(NamedTuple):
    """One method on one image: the arguments of `measure`."""

    folder: Path
    net: Network
    image: str
    step: int
    method: str
    wanted: int


def tasks(data: Path, *, count: int, images: int | None, step: int | None = None) -> dict[str, Task]:
    """Name and values of every measurement; with ``step``, only of images of that size."""
    return {
        f"{task.net} {task.folder.name} {task.image} {task.method}"
        + ("" if task.step == 1 else f" by {task.step}"): task
        for task in plan(data, count, images)
        if step in (None, task.step)
    }


def plan(data: Path, count: int, images: int | None) -> Iterator[Task]:
    """All measurements, such that an interrupted run covers all sets evenly.

    Our modes, DivMBest and noise are measured on every image, with ``count`` segmentations on every seventh.  The
    `SECONDARY` methods are measured on every image too, every seventh first; other strengths on every seventh.
    """
    seventh, others = _places(data, images)
    small, whole = STEPS
    rounds = (
        (others + seventh, small, "main"),
        (seventh, small, "secondary"),
        (others, whole, "main"),
        (others, small, "secondary"),
        (seventh, whole, "main"),
        (seventh + others, whole, "secondary"),
        (seventh, small, "rest"),
        (seventh, whole, "rest"),
    )
    for places, step, part in rounds:
        for source, index in places:
            wanted = count if part == "main" and index % EVERY == 0 else min(count, DEFAULT_COUNT)
            for method in _methods(part, source.net):
                yield Task(source.folder, source.net, source.names[index], step, method, wanted)


def _places(data: Path, images: int | None) -> tuple[list[tuple[AnnotatedFolder, int]], ...]:
    """Folder and index of every seventh image, and of the others, those of all sets in turn."""
    sources = [AnnotatedFolder(data / "segmentation" / name, net) for name in SETS for net in NETWORKS]
    places = [
        (index / len(source.names), source, index) for source in sources for index in range(len(source.names))[:images]
    ]
    places.sort(key=lambda place: place[0])
    return tuple(
        [(source, index) for _, source, index in places if (index % EVERY == 0) is seventh] for seventh in (True, False)
    )


def _methods(part: str, net: Network) -> list[str]:
    """The methods that are measured together on an image."""
    main = ["ours", *TUNED[net]]
    if part == "main":
        return main
    if part == "secondary":
        return list(SECONDARY)
    return [name for name in methods() if name not in (*main, *SECONDARY)]
