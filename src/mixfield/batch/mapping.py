"""`map`: the work on every item that has no result yet."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Generator, Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

from mixfield.batch.items import Engine, Item, Outcome, Work
from mixfield.batch.manifest import Manifest
from mixfield.batch.perform import DRAFTS
from mixfield.batch.serial import Serial
from mixfield.errors import BatchError, MixfieldError


def map(
    work: Work, items: Iterable[Item], out: Path, *, settings: Any = None, engine: Engine | None = None
) -> Generator[Outcome]:
    """Run the work on every item that has no result in ``out``, and yield the outcome of every item.

    Parameters
    ----------
    work : called with the argument of an item and a folder for its files; returns facts that can be written as JSON.
        An exception is the failure of this item; the other items are not affected.
    items : items with different names; results of earlier runs are yielded first, the others as they complete.
    out : output folder; the files of an item appear there complete, and ``manifest.jsonl`` holds their checksums.
    settings : what the results depend on besides the items, as JSON; a folder with results of other settings is
        refused.
    engine : `Serial` (default), `Processes` or `Dask`; all of them write the same bytes.

    Yields
    ------
    Outcome
        One per item, recorded in the manifest before it is yielded.

    Raises
    ------
    BatchError
        If the output folder cannot be written any more, was deleted, or has lost results, or if the cluster is gone;
        finished results are kept.

    Notes
    -----
    The run may be killed at any point.  A result counts once its line is in the manifest; the same call verifies the
    checksums of finished results and repeats items that are missing, damaged or failed.
    """
    todo = list(items)
    _check_names(todo)
    out = Path(out).absolute()
    with Manifest(out, settings) as manifest:
        shutil.rmtree(out / DRAFTS, ignore_errors=True)  # left by a killed run; the lock excludes a running one
        missing = []
        for item in todo:
            result = manifest.finished(item)
            if result is None:
                missing.append(item)
            else:
                yield result
        if missing:
            yield from _run(work, missing, out, manifest, engine or Serial())
        manifest.check_results(todo)


def _check_names(items: list[Item]) -> None:
    for name, count in Counter(item.name for item in items).items():
        if count > 1:
            raise MixfieldError(f"items must have different names, {name!r} comes {count} times")


def _run(work: Work, items: list[Item], out: Path, manifest: Manifest, engine: Engine) -> Generator[Outcome]:
    """Outcomes of new work, each recorded before it is yielded."""
    drafts = out / DRAFTS
    try:
        drafts.mkdir(exist_ok=True)
    except OSError as error:
        raise BatchError(f"cannot write to {out}: {error.strerror}") from None
    try:
        with closing(engine.run(work, items, out)) as outcomes:  # stops the workers before the drafts are removed
            for outcome in outcomes:
                if outcome.fatal:
                    manifest.check_folder()
                    raise BatchError(f"{outcome.name}: {outcome.failure}")
                manifest.add(outcome)
                yield outcome
    finally:
        shutil.rmtree(drafts, ignore_errors=True)
