"""The scores of a network as files: ``.npy``, ``.npz`` or a label map."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from mixfield import _npy
from mixfield.errors import FileFormatError
from mixfield.io.images import SUFFIXES as IMAGE_SUFFIXES
from mixfield.io.images import read_label_map

NAMES = ("probs", "scores", "arr_0")
SUFFIXES = (".npy", ".npz", *IMAGE_SUFFIXES)


def read_scores(path: str | PathLike[str]) -> NDArray[Any]:
    """Read scores or labels, as `mixfield.segment` takes them.

    Parameters
    ----------
    path : ``.npy`` with the array; ``.npz`` with one array, or one named ``probs``, ``scores`` or ``arr_0``; or an
        image, which is a label map, see `read_label_map`.
    """
    suffix = Path(path).suffix.lower()
    if suffix not in SUFFIXES:
        raise FileFormatError(f"{path} must be .npy, .npz or a label map such as .png, got {suffix or 'no suffix'}")
    if suffix in IMAGE_SUFFIXES:
        return read_label_map(path)
    if _npy.is_archive(path):
        (array,) = _npy.read_npz(path, "does not hold scores", _scores_name, _check_scores).values()
    else:
        array = _npy.read_npy(path, "does not hold scores", _check_scores)
    is_batch_of_one = array.ndim == 4 and array.shape[0] == 1
    return array[0] if is_batch_of_one else array


def _scores_name(names: list[str]) -> list[str]:
    """The name of the array of an archive that contains the scores."""
    for name in names if len(names) == 1 else NAMES:
        if name in names:
            return [name]
    raise ValueError(f"it must hold one array, or one named {', '.join(NAMES)}, got {', '.join(names) or 'none'}")


def _check_scores(name: str, header: _npy.Header, file_size: int) -> None:  # noqa: ARG001
    if header.dtype.kind not in "buif":
        raise ValueError(f"its array is of {header.dtype}, numbers are needed")
