"""The `map` behind every verb that works through many items."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Generator, Iterable, Iterator
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
    """Do the work on every item that is not finished, and yield what became of each.

    Parameters
    ----------
    work : called with the argument of an item and a folder to write results to; returns facts that fit into JSON.
        Whatever exception it raises is the failure of this item, and the others go on.
    items : what to work through; results of earlier runs come first, the others as they get ready.
    out : folder of results; they appear there whole, with a line in ``manifest.jsonl`` that holds their checksums.
    settings : what results depend on besides the items, as JSON; a folder with results of other settings is refused.
    engine : `Serial`, `Processes` or `Dask`; they give the same bytes.

    Raises
    ------
    BatchError
        If results cannot be written any more, or the cluster has gone; what is finished stays so.

    Notes
    -----
    The run may be stopped at any point, by force too.  A result counts once its line is in the manifest; the same call
    checks finished results against their checksums and does the missing, damaged and failed ones.
    """
    todo = list(items)
    name, count = Counter(item.name for item in todo).most_common(1)[0] if todo else ("", 1)
    if count > 1:
        raise MixfieldError(f"items must have different names, {name!r} comes {count} times")
    out = Path(out).absolute()
    with Manifest(out, settings) as manifest:
        missing = []
        for item in todo:
            known = manifest.finished(item)
            if known is None:
                missing.append(item)
            else:
                yield known
        if missing:
            yield from _fresh(work, missing, out, manifest, engine or Serial())


def _fresh(work: Work, items: list[Item], out: Path, manifest: Manifest, engine: Engine) -> Iterator[Outcome]:
    """Outcomes of new work, each recorded before it is told."""
    drafts = out / DRAFTS
    shutil.rmtree(drafts, ignore_errors=True)  # of a run that was killed; the manifest is locked, nobody writes there
    try:
        drafts.mkdir(exist_ok=True)
    except OSError as error:
        raise BatchError(f"cannot write to {out}: {error.strerror}") from None
    outcomes = engine.run(work, items, out)
    try:
        for outcome in outcomes:
            if outcome.stops:
                raise BatchError(f"{outcome.name}: {outcome.failure}")
            manifest.add(outcome)
            yield outcome
    finally:
        close = getattr(outcomes, "close", None)
        if close is not None:
            close()  # ends the workers before the folder is given up
        shutil.rmtree(drafts, ignore_errors=True)
