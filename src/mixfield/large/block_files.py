"""The result of one block as a file: its labels, and the regions of its alternatives."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mixfield import _npy
from mixfield.large.block_field import BlockResult
from mixfield.large.regions import Alternative

FOLDER = "blocks"
COMPLAINT = "is no result of a block"
NUMBERS = ("old", "new", "probability", "pixels", "cut_off")  # of an alternative, in a row of its table


def block_path(folder: Path, name: str) -> Path:
    """The file of a block in an output folder."""
    return folder / FOLDER / f"{name}.npz"


def write_block(path: Path, result: BlockResult) -> None:
    """Write labels and alternatives; the same result gives the same bytes."""
    arrays: dict[str, NDArray[Any]] = {"labels": result.labels}
    for k, one in enumerate(result.alternatives):
        arrays[f"window_{k}"] = np.array([(along.start, along.stop) for along in one.window])
        arrays[f"changed_{k}"], arrays[f"new_{k}"] = np.packbits(one.changed), one.labels[one.changed]
        arrays[f"numbers_{k}"] = np.array([float(getattr(one, name)) for name in NUMBERS])
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "wb") as file:
        np.savez_compressed(file, allow_pickle=False, **arrays)


def read_labels(path: Path) -> NDArray[Any]:
    """The labels of a block."""
    return _npy.read_npz(path, COMPLAINT, lambda names: [name for name in names if name == "labels"])["labels"]


def read_alternatives(path: Path) -> tuple[Alternative, ...]:
    """The alternatives of a block."""
    arrays = _npy.read_npz(path, COMPLAINT, lambda names: [name for name in names if name != "labels"])
    return tuple(_alternative(arrays, k) for k in range(sum(name.startswith("window_") for name in arrays)))


def _alternative(arrays: dict[str, NDArray[Any]], k: int) -> Alternative:
    window = tuple(slice(int(first), int(last)) for first, last in arrays[f"window_{k}"])
    shape = tuple(along.stop - along.start for along in window)
    changed = np.unpackbits(arrays[f"changed_{k}"], count=int(np.prod(shape))).astype(bool).reshape(shape)
    labels = np.zeros(shape, np.uint16)
    labels[changed] = arrays[f"new_{k}"]
    old, new, probability, pixels, cut_off = arrays[f"numbers_{k}"].tolist()
    return Alternative(window, changed, labels, int(old), int(new), probability, int(pixels), bool(cut_off))
