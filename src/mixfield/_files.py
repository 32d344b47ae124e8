"""Files that appear whole or not at all, and paths that stay in their folder."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path, PurePosixPath

from mixfield.errors import MixfieldError

StrPath = str | PathLike[str]


@contextmanager
def draft(path: StrPath) -> Iterator[Path]:
    """A path beside ``path`` to write to; it takes the place of ``path`` when the block ends well, else it goes."""
    target = Path(path)
    beside = target.with_name(f".{secrets.token_hex(8)}.draft")
    try:
        yield beside
        os.replace(beside, target)
    finally:
        beside.unlink(missing_ok=True)


def write_bytes(path: StrPath, content: bytes) -> None:
    """Write a file: a reader sees the old one or the whole new one."""
    with draft(path) as beside:
        beside.write_bytes(content)


def write_text(path: StrPath, text: str) -> None:
    """Write a text in UTF-8: a reader sees the old file or the whole new one."""
    write_bytes(path, text.encode())


def inside(folder: Path, name: str) -> Path:
    """The file ``name`` of ``folder``; a `MixfieldError` if it would lie elsewhere, links followed."""
    parts = PurePosixPath(name)
    unusual = not name or "\0" in name or "\\" in name or parts.is_absolute() or ".." in parts.parts
    path = folder / parts
    below = len(parts.parts) > 1  # of a folder in it, which may be a link
    try:
        elsewhere = (below and not path.parent.resolve().is_relative_to(folder.resolve())) or path.is_symlink()
    except (OSError, ValueError):  # too long, or not a name at all
        elsewhere = True
    if unusual or elsewhere:
        raise MixfieldError(f"{name[:200]!r} does not lie in {folder}")
    return path
