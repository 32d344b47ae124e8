"""Files that are read within limits or replaced in one step, and paths that stay in their folder."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from mixfield.errors import FileFormatError, MixfieldError, TooLargeError

StrPath = str | PathLike[str]

MAX_SHOWN = 200  # characters of a name in an error message
MAX_EXPANSION = 100  # bytes in memory per byte of a file, beyond `ALWAYS_READ`
ALWAYS_READ = 256 << 20  # bytes in memory, however small the file

_KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


def check_file(path: StrPath) -> None:
    """Raise a `FileFormatError` for a folder, pipe, socket or device: reading one can block or never end."""
    try:
        mode = os.stat(path).st_mode
    except ValueError as error:
        raise FileFormatError(f"{os.fspath(path)[:MAX_SHOWN]!r} is not the path of a file: {error}") from None
    if not stat.S_ISREG(mode):
        kind = _KINDS.get(stat.S_IFMT(mode), "not a regular file")
        raise FileFormatError(f"{path} is {kind}; give a file, or save what it yields to a file first")


def open_file(path: StrPath) -> BinaryIO:
    """Open a regular file for reading; anything else is refused without blocking, see `check_file`."""
    check_file(path)
    return open(path, "rb", opener=_open_without_blocking)


def read_bytes(path: StrPath, largest: int) -> bytes:
    """The content of a regular file of at most ``largest`` bytes."""
    with open_file(path) as stream:
        size = file_size(stream)
        if size > largest:
            raise TooLargeError(f"{path} has {size} bytes; at most {largest} are read of such a file")
        return stream.read()


def file_size(stream: BinaryIO) -> int:
    """Bytes of an open file."""
    return os.fstat(stream.fileno()).st_size


def largest_content(size: int, expansion: int = MAX_EXPANSION) -> int:
    """How many bytes the content of a file of ``size`` bytes may take in memory: a small file cannot take it all."""
    return max(ALWAYS_READ, expansion * size)


def _open_without_blocking(path: str, flags: int) -> int:
    """For `open`: if a pipe has replaced the file since `check_file`, this does not wait for its other end."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


@contextmanager
def draft(path: StrPath) -> Iterator[Path]:
    """A temporary path in the folder of ``path``, which replaces ``path`` at the end of the block.

    If the block raises, the temporary file is removed and ``path`` is not changed.
    """
    target = Path(path)
    temporary = target.with_name(f".{secrets.token_hex(8)}.draft")
    try:
        yield temporary
        os.replace(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)


def check_writable(folder: StrPath) -> None:
    """Raise a `MixfieldError` unless a file can be created in a folder, or in the first ancestor that exists.

    A file is created and removed: permission bits do not tell about read-only file systems, and root ignores them.
    """
    place = Path(folder)
    while not place.exists() and place != place.parent:
        place = place.parent
    probe = place / f".{secrets.token_hex(8)}.draft"
    try:
        probe.touch(exist_ok=False)
        probe.unlink()
    except OSError as error:
        raise MixfieldError(f"cannot write to {folder}: {error.strerror or error}") from None


def write_bytes(path: StrPath, content: bytes) -> None:
    """Write a file in one step: a concurrent reader gets the old or the new content."""
    with draft(path) as temporary:
        temporary.write_bytes(content)


def write_text(path: StrPath, text: str) -> None:
    """Write a text in UTF-8 in one step."""
    write_bytes(path, text.encode())


def inside(folder: Path, name: str) -> Path:
    """The path of ``name``, a relative POSIX path, in ``folder``.

    Raises a `MixfieldError` for absolute paths, ``..``, and symbolic links that lead out of the folder.
    """
    parts = PurePosixPath(name)
    invalid = not name or "\0" in name or "\\" in name or parts.is_absolute() or ".." in parts.parts
    path = folder / parts
    try:
        outside = path.is_symlink() or (len(parts.parts) > 1 and not _is_inside(path.parent, folder))
    except (OSError, ValueError):  # a name that the file system does not accept
        outside = True
    if invalid or outside:
        raise MixfieldError(f"{name[:MAX_SHOWN]!r} does not lie in {folder}")
    return path


def _is_inside(path: Path, folder: Path) -> bool:
    """Whether ``path`` is in ``folder`` after symbolic links are resolved."""
    return path.resolve().is_relative_to(folder.resolve())
