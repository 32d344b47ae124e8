"""Arrays from ``.npy`` and ``.npz`` files of unknown origin: no pickles, and sizes are checked before numbers are read.

A compressed archive of a few megabytes can declare arrays of gigabytes.  The headers of all its arrays are read first;
their types and sizes are checked against what the caller expects and against the size of the file.
"""

from __future__ import annotations

import io
import lzma
import math
import struct
import tokenize
import warnings
import zipfile
import zlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from os import PathLike
from typing import IO, Any, BinaryIO, TypeVar

import numpy as np
from numpy.typing import NDArray

from mixfield import _files
from mixfield.errors import FileFormatError, MixfieldError, TooLargeError

StrPath = str | PathLike[str]

_T = TypeVar("_T")

LARGEST = 4 << 30  # bytes of the arrays of one file
MAGIC_LENGTH = 8  # bytes: the prefix, and major and minor version
MAX_HEADER = 10_000  # bytes; NumPy reads no longer ones either
BLOCK = 1 << 20  # bytes that are read at once
VERSIONS = ((1, 0), (2, 0), (3, 0))

_DAMAGE = (  # what zipfile and NumPy raise on damaged files; RuntimeError includes NotImplementedError
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error, tokenize.TokenError, SyntaxError, EOFError),
    *(ValueError, KeyError, TypeError, OverflowError, RecursionError, RuntimeError, OSError),
)


@dataclass(frozen=True)
class Header:
    """What a file says about an array before its numbers.

    Attributes
    ----------
    shape, dtype : of the array.
    is_fortran : whether the first axis varies fastest.
    """

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    is_fortran: bool

    @property
    def size(self) -> int:
        """Number of entries."""
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        """Bytes of the array in memory."""
        return self.size * self.dtype.itemsize


Check = Callable[[str, Header, int], None]


def any_array(name: str, header: Header, file_size: int) -> None:
    """Accept every array."""


def exactly(dtype: type[np.generic], shape: tuple[int, ...]) -> Check:
    """Accept arrays of this type and shape only."""

    def check(name: str, header: Header, file_size: int) -> None:  # noqa: ARG001
        if header.dtype != dtype or header.shape != shape:
            wanted = f"{np.dtype(dtype)} of shape {shape}"
            raise ValueError(f"{name} must be {wanted}, got {header.dtype} of shape {header.shape}")

    return check


def write_npz(file: BinaryIO, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write a ``.npz`` with fixed time stamps, so that equal arrays give equal bytes."""
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, array in arrays.items():
            buffer = io.BytesIO()
            np.lib.format.write_array(buffer, array, allow_pickle=False)
            entry = zipfile.ZipInfo(f"{name}.npy", date_time=(1980, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, buffer.getvalue())


def read_npy(path: StrPath, complaint: str, check: Check = any_array) -> NDArray[Any]:
    """Read the array of a ``.npy`` file; ``complaint`` and ``check`` as for `read_npz`, the name is empty."""
    with _files.open_file(path) as stream:
        return _reading(path, complaint, lambda: _only_array(stream, path, check))


def is_archive(path: StrPath) -> bool:
    """Whether a file is a zip archive, as ``.npz`` files are."""
    with _files.open_file(path) as stream:
        return zipfile.is_zipfile(stream)


def read_npz(
    path: StrPath,
    complaint: str,
    choose: Callable[[list[str]], Iterable[str]] = list,
    check: Check = any_array,
    *,
    largest: int | None = None,
) -> dict[str, NDArray[Any]]:
    """Read arrays of a ``.npz`` file by name.

    Parameters
    ----------
    path : the file.
    complaint : of the `FileFormatError`, after the path and before the reason.
    choose : from the names of all arrays to the names of those to read; by default all.
    check : called with name and header of each chosen array and the size of the file before any array is read; raises
        a ``ValueError``, the reason, for what the caller does not read.
    largest : bytes of all chosen arrays together; `LARGEST` by default.
    """
    limit = LARGEST if largest is None else largest
    with _files.open_file(path) as stream:
        return _reading(path, complaint, lambda: _chosen_arrays(stream, path, choose, check, limit))


def _reading(path: StrPath, complaint: str, read: Callable[[], _T]) -> _T:
    """Call ``read``; what it raises for a damaged file becomes a `FileFormatError` with the path and the reason."""
    try:
        return read()
    except MixfieldError:
        raise
    except MemoryError as error:
        raise TooLargeError(f"{path} needs more memory than there is: {error}".rstrip(": ")) from error
    except _DAMAGE as error:
        raise FileFormatError(f"{path} {complaint}: {_reason(error)}") from None


def _only_array(stream: BinaryIO, path: StrPath, check: Check) -> NDArray[Any]:
    size = _files.file_size(stream)
    header = _header(stream)
    check("", header, size)
    _check_total(path, {"": header}, LARGEST, size)
    return _numbers(stream, header, size - stream.tell())


def _chosen_arrays(
    stream: BinaryIO, path: StrPath, choose: Callable[[list[str]], Iterable[str]], check: Check, largest: int
) -> dict[str, NDArray[Any]]:
    size = _files.file_size(stream)
    with zipfile.ZipFile(stream) as archive:
        entries = {entry.filename.removesuffix(".npy"): entry for entry in archive.infolist()}
        headers = {}
        for name in choose(list(entries)):
            if name not in entries:
                raise ValueError(f"it has no array {name!r}")
            with archive.open(entries[name]) as member:
                headers[name] = _header(member)
            check(name, headers[name], size)
        _check_total(path, headers, largest, size)
        return {name: _member(archive, entries[name]) for name in headers}


def _check_total(path: StrPath, headers: Mapping[str, Header], largest: int, file_size: int) -> None:
    """Refuse arrays that are too large, together, for any file or for a file of this size."""
    total = sum(header.nbytes for header in headers.values())
    if total > largest:
        shapes = ", ".join(str(header.shape) for header in list(headers.values())[:3])
        raise TooLargeError(f"{path} holds arrays of shape {shapes}, {total} bytes; at most {largest} are read")
    if total > _files.largest_content(file_size):
        raise TooLargeError(
            f"{path} has {file_size} bytes and would take {total} in memory; at most {_files.MAX_EXPANSION} times the "
            "size of a file are read: save it without compression (np.savez)"
        )


def _member(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> NDArray[Any]:
    with archive.open(entry) as stream:
        header = _header(stream)
        return _numbers(stream, header, entry.file_size - stream.tell())


def _numbers(stream: IO[bytes], header: Header, available: int) -> NDArray[Any]:
    """The array after its header, read-only; ``available`` is the number of bytes that the file says to have."""
    if available < header.nbytes:
        raise _cut_off(header, available)
    content = np.empty(header.nbytes, np.uint8)
    position = 0
    while position < len(content) and (block := stream.read(min(BLOCK, len(content) - position))):
        content[position : position + len(block)] = np.frombuffer(block, np.uint8)
        position += len(block)
    if position < len(content):
        raise _cut_off(header, position)
    array = content.view(header.dtype).reshape(header.shape, order="F" if header.is_fortran else "C")
    array.setflags(write=False)
    return array


def _cut_off(header: Header, available: int) -> ValueError:
    return ValueError(
        f"it is cut off: an array of shape {header.shape} has {header.nbytes} bytes, there are {max(0, available)}"
    )


def _header(stream: IO[bytes]) -> Header:
    """The header of an open ``.npy`` stream."""
    magic = stream.read(MAGIC_LENGTH)
    if not magic:
        raise EOFError
    if len(magic) < MAGIC_LENGTH or not magic.startswith(np.lib.format.MAGIC_PREFIX):
        raise ValueError("it does not begin as an array does, and pickled objects are not read")
    version = (magic[-2], magic[-1])
    if version not in VERSIONS:
        raise ValueError(f"version {version} of the npy format is not known")
    shape, is_fortran, dtype = _parsed_header(stream, version)
    if dtype.hasobject:
        raise ValueError("pickled objects are not read")
    if dtype.itemsize == 0 or any(length < 0 for length in shape):
        raise ValueError(f"it has the shape {shape} and the type {dtype}, of which there are no arrays")
    return Header(shape, dtype, is_fortran)


def _parsed_header(stream: IO[bytes], version: tuple[int, int]) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Shape, order and type; NumPy would read a header of any length before it checks the length."""
    prefix = stream.read(2 if version == (1, 0) else 4)
    length = int.from_bytes(prefix, "little")
    if length > MAX_HEADER:
        raise ValueError(f"its header has {length} bytes, at most {MAX_HEADER} are read")
    read_header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # about files that Python 2 wrote
        return read_header(io.BytesIO(prefix + stream.read(length)))


def _reason(error: BaseException) -> str:
    text = str(error).splitlines()[0] if str(error) else "it is empty or cut off"
    return "pickled objects are not read" if "pickle" in text.lower() else text
