"""The scores of a network as files: ``.npy``, ``.npz`` or a label map; never pickles."""

from __future__ import annotations

import zipfile
import zlib
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mixfield.errors import FileFormatError
from mixfield.io.images import SUFFIXES as IMAGE_SUFFIXES
from mixfield.io.images import read_label_map

NAMES = ("probs", "scores", "arr_0")
SUFFIXES = (".npy", ".npz", *IMAGE_SUFFIXES)


def read_scores(path: str | PathLike[str]) -> NDArray[Any]:
    """Scores or labels from a file, as `mixfield.segment` takes them.

    ``.npy`` holds the array; ``.npz`` holds one array, or one named ``probs``, ``scores`` or ``arr_0``; an image is a
    label map, see `read_label_map`.
    """
    suffix = Path(path).suffix.lower()
    if suffix not in SUFFIXES:
        raise FileFormatError(f"{path} must be .npy, .npz or a label map such as .png, got {suffix or 'no suffix'}")
    if suffix in IMAGE_SUFFIXES:
        return read_label_map(path)
    with open(path, "rb") as stream:
        try:
            content = np.load(stream, allow_pickle=False)
            array = content if isinstance(content, np.ndarray) else _only(content)
        except (zipfile.BadZipFile, zlib.error, ValueError, EOFError, OSError, KeyError) as error:
            if isinstance(error, FileFormatError):
                raise
            raise FileFormatError(f"{path} does not hold scores: {_reason(error)}") from None
    if array.dtype.kind not in "buif":
        raise FileFormatError(f"{path} does not hold scores: its array is of {array.dtype}, numbers are needed")
    if array.ndim == 4 and array.shape[0] == 1:
        return array[0]  # a batch of one
    return array


def _only(archive: Any) -> NDArray[Any]:
    """The array of an archive."""
    with archive:
        names = archive.files
        for name in names if len(names) == 1 else NAMES:
            if name in names:
                return np.asarray(archive[name])
        raise ValueError(f"it must hold one array, or one named {', '.join(NAMES)}, got {', '.join(names) or 'none'}")


def _reason(error: Exception) -> str:
    text = str(error).splitlines()[0] if str(error) else "it is empty or cut off"
    return "pickled objects are not read" if "pickle" in text.lower() else text
