"""Names of labels: a text file with one name a line, or the metadata of scores."""

from __future__ import annotations

from collections.abc import Iterable
from os import PathLike
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mixfield import _npy
from mixfield.errors import FileFormatError
from mixfield.io.documents import read_text

StrPath = str | PathLike[str]

ENTRIES = ("names", "label_names", "class_names", "classes")  # of a .npz of scores
MAX_NAMES, MAX_LENGTH = 65536, 200
MAX_ARRAY = 4 * MAX_NAMES * MAX_LENGTH  # bytes, four for each character


def read_names(path: StrPath) -> tuple[str, ...]:
    """Names of labels from 0 on, one a line; empty lines at the end are dropped."""
    text = read_text(path).rstrip()
    if not text:
        raise FileFormatError(f"{path} holds no names; give one a line")
    return _checked(path, text.split("\n"))


def first_names(paths: Iterable[Path]) -> tuple[str, ...]:
    """The names in the first file that exists, none if there is no such file."""
    return next((read_names(path) for path in paths if path.is_file()), ())


def names_in_scores(path: StrPath) -> tuple[str, ...]:
    """The names that a ``.npz`` of scores holds beside them, an array of texts called ``names``, ``label_names``,
    ``class_names`` or ``classes``; none for other files."""
    if not _npy.is_archive(path):
        return ()
    found = _npy.read_npz(
        path, "does not hold names", lambda names: [name for name in ENTRIES if name in names][:1], largest=MAX_ARRAY
    )
    for array in found.values():
        if array.dtype.kind == "U" and array.ndim == 1:
            return _checked(path, _texts(path, array))
    return ()


def _texts(path: StrPath, array: NDArray[np.str_]) -> list[str]:
    """The texts of an array, of which damaged files have characters that do not exist."""
    try:
        return list(array.tolist())
    except (SystemError, ValueError) as error:
        raise FileFormatError(f"{path} does not hold names: {error}") from None


def _checked(path: StrPath, names: list[str]) -> tuple[str, ...]:
    stripped = tuple(name.strip() for name in names)
    if len(stripped) > MAX_NAMES or any(len(name) > MAX_LENGTH for name in stripped):
        raise FileFormatError(f"{path} must hold names of labels, one a line, of at most {MAX_LENGTH} characters")
    return stripped
