"""Files that are replaced in one step, and paths that stay in their folder."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path, PurePosixPath

from mixfield.errors import MixfieldError

StrPath = str | PathLike[str]

MAX_SHOWN = 200  # characters of a name in an error message


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
