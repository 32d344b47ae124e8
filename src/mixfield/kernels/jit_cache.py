"""Where compiled kernels are saved.

Numba saves them in ``NUMBA_CACHE_DIR``, beside the source file, or in the home of the user.  It raises an error if it
can write to none of them, and creates a folder called ``~`` for a user without a home: both happen in containers, with
a read-only root or an unknown user.  Then kernels are saved in a temporary folder of this user, or not at all.
"""

from __future__ import annotations

import logging
import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

from numba.core import config as numba_config

config: Any = numba_config  # its attributes are created when it is imported

_log = logging.getLogger(__name__)

REASON = "neither the package nor a home of this user can be written; NUMBA_CACHE_DIR names another folder"


def enable_cache(kernel: Any) -> None:
    """Let Numba save a kernel, a dispatcher, when it is compiled."""
    if config.CACHE_DIR or _has_home():
        try:
            kernel.enable_caching()
            return
        except RuntimeError:  # no folder that can be written
            pass
    folder = temporary_folder()
    if folder is not None:
        with _cache_folder(folder):
            kernel.enable_caching()


def _has_home() -> bool:
    return os.path.isabs(os.path.expanduser("~"))


@cache
def temporary_folder() -> str | None:
    """A folder for kernels that outlives this process; None, with a warning, if there is none."""
    folder = _private_folder()
    if folder is None:
        _log.warning("compiled kernels are not saved, every process compiles its own: %s", REASON)
    return folder


def _private_folder() -> str | None:
    """A folder that no other user can write to, since Numba executes what it reads there; created with a warning.

    Only one of several processes creates it.
    """
    user = os.getuid() if hasattr(os, "getuid") else None  # Windows has a temporary folder for each user
    try:
        folder = Path(tempfile.gettempdir()) / f"mixfield-kernels-{user}"
        with suppress(FileExistsError):
            folder.mkdir(mode=0o700)
            _log.warning("compiled kernels are saved in %s: %s", folder, REASON)
        if user is not None and not _belongs_to(user, folder.lstat()):
            return None
        tempfile.TemporaryFile(dir=folder).close()
    except OSError:
        return None
    return str(folder)


def _belongs_to(user: int, status: os.stat_result) -> bool:
    """Whether only this user can write to a folder; False for a symbolic link."""
    return stat.S_ISDIR(status.st_mode) and status.st_uid == user and not status.st_mode & 0o022


@contextmanager
def _cache_folder(folder: str) -> Iterator[None]:
    """Numba's setting, for kernels that are enabled in this block; those of other packages keep theirs."""
    before = config.CACHE_DIR
    config.CACHE_DIR = folder
    try:
        yield
    finally:
        config.CACHE_DIR = before
