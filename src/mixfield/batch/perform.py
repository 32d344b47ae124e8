"""One item in a worker: run the work in a draft folder, then move its files to the output folder."""

from __future__ import annotations

import errno
import json
import os
import secrets
import shutil
import traceback
import warnings
from functools import lru_cache
from pathlib import Path

from mixfield import _files
from mixfield.batch.items import Item, Outcome, Work
from mixfield.batch.manifest import RESUME, digest
from mixfield.errors import MixfieldError, MixfieldWarning, sentence

DRAFTS = ".drafts"

_NOT_WRITABLE = {"ENOSPC", "EDQUOT", "EROFS", "EFBIG"}  # by name: not every system has all of them


def perform(work: Work, item: Item, out: Path) -> Outcome:
    """Run the work on one item.  An exception of the work is the failure of the item."""
    stamp = item.stamp()
    try:
        draft = _draft_folder(out)
    except OSError as error:
        reason = f"cannot write to {out}: {error.strerror}; every worker must see this folder; {RESUME}"
        return Outcome(item.name, failure=reason, fatal=True)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", MixfieldWarning)  # results carry the same facts as notes
            facts = json.loads(json.dumps(work(item.argument, draft)))
        return Outcome(item.name, _publish(draft, out), facts, stamp=stamp)
    except Exception as error:
        return _failed(item, error, out)
    finally:
        if _has_entries(draft):
            shutil.rmtree(draft, ignore_errors=True)


def _draft_folder(out: Path) -> Path:
    """An empty folder of this process.  It is reused by later items: a new folder costs more than a tiny item."""
    draft = out / DRAFTS / _draft_name(os.getpid())
    draft.mkdir(exist_ok=True)
    if _has_entries(draft):  # they could not be removed
        _draft_name.cache_clear()
        return _draft_folder(out)
    return draft


@lru_cache(maxsize=1)
def _draft_name(process: int) -> str:  # noqa: ARG001 (a forked child needs its own)
    """A name that is unique over all workers on all machines."""
    return secrets.token_hex(8)


def _has_entries(folder: Path) -> bool:
    """True if a folder exists and is not empty."""
    try:
        with os.scandir(folder) as entries:
            return any(True for _ in entries)
    except FileNotFoundError:
        return False


def _publish(draft: Path, out: Path) -> dict[str, str]:
    """Move every file of a draft folder to the same relative path in ``out``; returns path -> SHA-256."""
    files: dict[str, str] = {}
    for path in sorted(path for path in draft.rglob("*") if not path.is_dir() or path.is_symlink()):
        name = path.relative_to(draft).as_posix()
        _files.inside(draft, name)  # raises for links that lead out of the folder
        files[name] = digest(path)
    for name in files:
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        os.replace(draft / name, _files.inside(out, name))
    return files


def _failed(item: Item, error: Exception, out: Path) -> Outcome:
    """The outcome of an item whose work raised an exception."""
    if isinstance(error, OSError) and errno.errorcode.get(error.errno or 0) in _NOT_WRITABLE:
        reason = f"cannot write to {out}: {error.strerror or error}; {RESUME}"
        return Outcome(item.name, failure=reason, fatal=True)
    if isinstance(error, (MixfieldError, OSError)):
        return Outcome(item.name, failure=sentence(error))
    if isinstance(error, MemoryError):
        return Outcome(item.name, failure=f"there is not enough memory: {error}".rstrip(": "))
    trace = "".join(traceback.format_exception(error))
    return Outcome(item.name, failure=f"unexpected {type(error).__name__}: {error}", trace=trace)
