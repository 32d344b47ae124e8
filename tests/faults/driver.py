"""A batch of cheap items in a process that tests kill: ``python driver.py OUT ENGINE COUNT [SCHEDULER]``.

Each item writes two files in small pieces, so that a kill leaves an incomplete file.
"""

from __future__ import annotations

import hashlib
import os
import sys
import time
from pathlib import Path

from mixfield import batch
from mixfield.errors import MixfieldError


def pieces(number, folder):
    """Write ten pieces into one file and a word into another, a millisecond apart."""
    (folder / "large").mkdir()
    with open(folder / "large" / f"{number}.bin", "wb", buffering=0) as file:
        for k in range(10):
            file.write(hashlib.sha256(f"{number} {k}".encode()).digest() * 64)
            time.sleep(0.001)
    (folder / f"{number}.txt").write_text(f"item {number}\n")
    return {"number": number}


def deadly(number, folder):
    """The same, but item 3 kills every worker that runs it, and item 5 the first one."""
    once = Path(os.environ["MIXFIELD_TEST_ONCE"])
    if number == 3 or (number == 5 and not once.exists()):
        once.touch()
        os.kill(os.getpid(), 9)
    return pieces(number, folder)


def slow_and_deadly(argument, _folder):
    """Count the calls of a kind of item in a folder; a deadly item kills its worker while a slow one is at work."""
    kind, calls = argument
    (calls / f"{kind}-{os.getpid()}").touch()
    time.sleep(0.5)
    if kind == "deadly":
        os.kill(os.getpid(), 9)
    time.sleep(2)


def engine_of(name, scheduler=None):
    return {
        "serial": batch.Serial(),
        "processes": batch.Processes(2),
        "forked": batch.Processes(2, method="fork"),
        "dask": batch.Dask(scheduler, workers=None if scheduler else 2, patience=20),
    }[name]


def items(count):
    return [batch.Item(str(number), number) for number in range(count)]


def main(out, engine, count, scheduler=None):
    try:
        for outcome in batch.map(pieces, items(int(count)), Path(out), engine=engine_of(engine, scheduler)):
            sys.stdout.write(f"{outcome.name} {outcome.failure}\n")
            sys.stdout.flush()
    except MixfieldError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main(*sys.argv[1:])
