"""What a worker does with an item: the work in a folder of its own, then its files, whole, to where they belong."""

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
from mixfield.batch.manifest import GO_ON, digest
from mixfield.errors import MixfieldError, MixfieldWarning, sentence

DRAFTS = ".drafts"

_NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EFBIG}


def perform(work: Work, item: Item, out: Path) -> Outcome:
    """Do the work on one item; never raises but for the interruption of the whole run."""
    stamp = item.stamp()
    try:
        draft = _draft(out)
    except OSError as error:
        reason = f"cannot write to {out}: {error.strerror}; every worker must see this folder; {GO_ON}"
        return Outcome(item.name, failure=reason, stops=True)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", MixfieldWarning)  # the same facts are notes of the results
            facts = json.loads(json.dumps(work(item.argument, draft)))
        return Outcome(item.name, _publish(draft, out), facts, stamp=stamp)
    except Exception as error:
        return _failed(item, error, out)
    finally:
        if _entries(draft):
            shutil.rmtree(draft, ignore_errors=True)


def _draft(out: Path) -> Path:
    """An empty folder: that of the item before if nothing is left there, for a new one costs more than a tiny item."""
    draft = out / DRAFTS / _name(os.getpid())
    draft.mkdir(exist_ok=True)
    if _entries(draft):  # they could not be removed
        _name.cache_clear()
        return _draft(out)
    return draft


@lru_cache(maxsize=1)
def _name(process: int) -> str:  # noqa: ARG001 (a forked child needs its own)
    """A name that no other worker has, on no machine."""
    return secrets.token_hex(8)


def _entries(folder: Path) -> bool:
    """Whether something is in a folder that is there."""
    try:
        with os.scandir(folder) as found:
            return any(True for _ in found)
    except FileNotFoundError:
        return False


def _publish(draft: Path, out: Path) -> dict[str, str]:
    """Move every file of a draft to the same place in ``out``; returns their checksums."""
    files: dict[str, str] = {}
    for path in sorted(path for path in draft.rglob("*") if not path.is_dir() or path.is_symlink()):
        name = path.relative_to(draft).as_posix()
        _files.inside(draft, name)  # a link could point anywhere
        files[name] = digest(path)
    for name in files:
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        os.replace(draft / name, _files.inside(out, name))
    return files


def _failed(item: Item, error: Exception, out: Path) -> Outcome:
    if isinstance(error, OSError) and error.errno in _NO_ROOM:
        reason = f"cannot write to {out}: {error.strerror or error}; {GO_ON}"
        return Outcome(item.name, failure=reason, stops=True)
    if isinstance(error, (MixfieldError, OSError)):
        return Outcome(item.name, failure=sentence(error))
    if isinstance(error, MemoryError):
        return Outcome(item.name, failure=f"there is not enough memory: {error}".rstrip(": "))
    trace = "".join(traceback.format_exception(error))
    return Outcome(item.name, failure=f"unexpected {type(error).__name__}: {error}", trace=trace)
