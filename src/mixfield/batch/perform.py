"""One item in a worker: run the work in a draft folder, then move its files to the output folder.

The driver removes all draft folders when a run ends.  A marker beside the draft folder of a worker is removed with it,
and tells the worker that the run has ended, or that the output folder was deleted: its work may have created both
folders again.
"""

from __future__ import annotations

import errno
import json
import os
import secrets
import shutil
import traceback
import warnings
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

from mixfield import _files
from mixfield.batch.items import Item, Outcome, Work
from mixfield.batch.manifest import NAME, RESUME, digest
from mixfield.errors import MixfieldError, MixfieldWarning, sentence

DRAFTS = ".drafts"
RESERVED = (NAME, DRAFTS)  # names in the output folder that results cannot have

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
        if not _marker(draft).exists():
            return _ended(item, draft, out)
        return Outcome(item.name, _publish(draft, out), facts, stamp=stamp)
    except Exception as error:
        return _failed(item, error, out) if _marker(draft).exists() else _ended(item, draft, out)
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
    if not _marker(draft).exists():
        _marker(draft).touch()
    return draft


def _marker(draft: Path) -> Path:
    return draft.with_suffix(".run")


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
        if name.partition("/")[0].casefold() in RESERVED:  # some file systems do not distinguish case
            raise MixfieldError(f"results cannot be called {name.partition('/')[0]}: the batch has a file of this name")
        files[name] = digest(path)
    for name in files:
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        os.replace(draft / name, _files.inside(out, name))
    return files


def _ended(item: Item, draft: Path, out: Path) -> Outcome:
    """The outcome of an item whose run has ended; removes the folders that its work has created again."""
    shutil.rmtree(draft, ignore_errors=True)
    with suppress(OSError):  # unless other workers use it
        draft.parent.rmdir()
    reason = f"the drafts in {out} were deleted during the run; finished results are kept: run the same command again"
    return Outcome(item.name, failure=reason, fatal=True)


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
