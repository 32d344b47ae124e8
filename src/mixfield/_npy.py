"""Arrays from ``.npy`` and ``.npz`` files of unknown origin: no pickles, nothing larger than it may be."""

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

_DAMAGE = (
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error, tokenize.TokenError, SyntaxError, EOFError),
    *(ValueError, KeyError, TypeError, OverflowError, RecursionError, RuntimeError, OSError),  # and NotImplementedError
)


def read_npy(path: StrPath, complaint: str) -> NDArray[Any]:
    """The array of a ``.npy`` file; otherwise a `FileFormatError` that begins with the complaint."""
    with open(path, "rb") as stream:
        return _judged(path, complaint, lambda: _array(stream, str(path)))


def read_npz(
    path: StrPath, complaint: str, choose: Callable[[list[str]], Iterable[str]] = list
) -> dict[str, NDArray[Any]]:
    """The arrays of a ``.npz`` file that ``choose`` picks from their names."""

    def arrays() -> dict[str, NDArray[Any]]:
        with open(path, "rb") as stream, zipfile.ZipFile(stream) as archive:
            found = {name.removesuffix(".npy"): name for name in archive.namelist()}
            return {name: _member(archive, found[name], str(path)) for name in choose(list(found))}

    return _judged(path, complaint, arrays)


def _judged(path: StrPath, complaint: str, read: Callable[[], _T]) -> _T:
    try:
        return read()
    except MixfieldError:
        raise
    except FileNotFoundError:
        raise
    except _DAMAGE as error:
        raise FileFormatError(f"{path} {complaint}: {_reason(error)}") from None


def _member(archive: zipfile.ZipFile, name: str, path: str) -> NDArray[Any]:
    with archive.open(name) as stream:
        return _array(stream, path)


def _array(stream: IO[bytes], path: str) -> NDArray[Any]:
    """The array of an open ``.npy`` stream; nothing is allocated before its size is known to be fine."""
    start = stream.read(8)
    if not start:
        raise EOFError
    if len(start) < 8 or not start.startswith(np.lib.format.MAGIC_PREFIX):
        raise ValueError("it does not begin as an array does, and pickled objects are not read")
    version = (start[6], start[7])
    if version not in ((1, 0), (2, 0), (3, 0)):
        raise ValueError(f"version {version} of the npy format is not known")
    header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # that Python 2 wrote it
        shape, fortran, dtype = header(stream)
    if dtype.hasobject:
        raise ValueError("pickled objects are not read")
    size = math.prod(shape) * dtype.itemsize
    if size > LARGEST or any(length < 0 for length in shape):
        raise TooLargeError(f"{path} holds an array of shape {shape}, {size} bytes; at most {LARGEST} are read")
    content = stream.read(size)
    if len(content) != size:
        raise ValueError(f"it is cut off: an array of shape {shape} has {size} bytes, there are {len(content)}")
    if dtype.itemsize == 0:
        return np.zeros(shape, dtype)
    return np.frombuffer(content, dtype).reshape(shape, order="F" if fortran else "C")


def _reason(error: BaseException) -> str:
    text = str(error).splitlines()[0] if str(error) else "it is empty or cut off"
    return "pickled objects are not read" if "pickle" in text.lower() else text
