"""Arrays from ``.npy`` and ``.npz`` files of unknown origin: no pickles, and a limit on their size."""

from __future__ import annotations

import lzma
import math
import struct
import tokenize
import warnings
import zipfile
import zlib
from collections.abc import Callable, Iterable
from os import PathLike
from typing import IO, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from mixfield.errors import FileFormatError, MixfieldError, TooLargeError

StrPath = str | PathLike[str]

_T = TypeVar("_T")

LARGEST = 4 << 30  # bytes of one array
MAGIC_LENGTH = 8  # bytes: the prefix, and major and minor version
VERSIONS = ((1, 0), (2, 0), (3, 0))

_DAMAGE = (  # what zipfile and NumPy raise on damaged files; RuntimeError includes NotImplementedError
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error, tokenize.TokenError, SyntaxError, EOFError),
    *(ValueError, KeyError, TypeError, OverflowError, RecursionError, RuntimeError, OSError),
)


def read_npy(path: StrPath, complaint: str) -> NDArray[Any]:
    """Read the array of a ``.npy`` file; a `FileFormatError` has the path, the complaint and the reason."""
    with open(path, "rb") as stream:
        return _checked(path, complaint, lambda: _array(stream, str(path)))


def read_npz(
    path: StrPath, complaint: str, choose: Callable[[list[str]], Iterable[str]] = list
) -> dict[str, NDArray[Any]]:
    """Read arrays of a ``.npz`` file by name.

    Parameters
    ----------
    path : the file.
    complaint : of the `FileFormatError`, after the path and before the reason.
    choose : from the names of all arrays to the names of those to read; by default all.
    """

    def arrays() -> dict[str, NDArray[Any]]:
        with open(path, "rb") as stream, zipfile.ZipFile(stream) as archive:
            members = {name.removesuffix(".npy"): name for name in archive.namelist()}
            return {name: _member(archive, members[name], str(path)) for name in choose(list(members))}

    return _checked(path, complaint, arrays)


def _checked(path: StrPath, complaint: str, read: Callable[[], _T]) -> _T:
    try:
        return read()
    except (MixfieldError, FileNotFoundError):
        raise
    except _DAMAGE as error:
        raise FileFormatError(f"{path} {complaint}: {_reason(error)}") from None


def _member(archive: zipfile.ZipFile, name: str, path: str) -> NDArray[Any]:
    with archive.open(name) as stream:
        return _array(stream, path)


def _array(stream: IO[bytes], path: str) -> NDArray[Any]:
    """The array of an open ``.npy`` stream; its size is checked before memory is allocated."""
    shape, is_fortran, dtype = _header(stream)
    size = math.prod(shape) * dtype.itemsize
    if size > LARGEST or any(length < 0 for length in shape):
        raise TooLargeError(f"{path} holds an array of shape {shape}, {size} bytes; at most {LARGEST} are read")
    content = stream.read(size)
    if len(content) != size:
        raise ValueError(f"it is cut off: an array of shape {shape} has {size} bytes, there are {len(content)}")
    if dtype.itemsize == 0:
        return np.zeros(shape, dtype)
    return np.frombuffer(content, dtype).reshape(shape, order="F" if is_fortran else "C")


def _header(stream: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Shape, whether the order is Fortran's, and type of the array."""
    magic = stream.read(MAGIC_LENGTH)
    if not magic:
        raise EOFError
    if len(magic) < MAGIC_LENGTH or not magic.startswith(np.lib.format.MAGIC_PREFIX):
        raise ValueError("it does not begin as an array does, and pickled objects are not read")
    version = (magic[-2], magic[-1])
    if version not in VERSIONS:
        raise ValueError(f"version {version} of the npy format is not known")
    read_header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # about files that Python 2 wrote
        shape, is_fortran, dtype = read_header(stream)
    if dtype.hasobject:
        raise ValueError("pickled objects are not read")
    return shape, is_fortran, dtype


def _reason(error: BaseException) -> str:
    text = str(error).splitlines()[0] if str(error) else "it is empty or cut off"
    return "pickled objects are not read" if "pickle" in text.lower() else text
