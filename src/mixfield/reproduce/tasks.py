"""Many independent tasks on all cores: each result is a file of its own, so a stopped run goes on where it was."""

from __future__ import annotations

import json
import multiprocessing
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any

from mixfield.errors import MixfieldError

Result = dict[str, Any]


def run(
    work: Callable[..., Result], tasks: Mapping[str, tuple[Any, ...]], folder: Path, *, processes: int
) -> Iterator[int]:
    """Do every task that has no result in ``folder`` yet, in order; yields how many are done.

    Parameters
    ----------
    work : a function of a module (it is sent to other processes) from a task's values to plain numbers.
    tasks : name of each task, which is the name of its file, and its values.
    folder : where results are kept, one ``<name>.json`` each, written whole or not at all.
    processes : tasks at a time.
    """
    folder.mkdir(parents=True, exist_ok=True)
    waiting = {name: values for name, values in tasks.items() if not (folder / f"{name}.json").exists()}
    done = len(tasks) - len(waiting)
    yield done
    if processes == 1:
        for name, values in waiting.items():
            _write(folder, name, work(*values))
            done += 1
            yield done
        return
    pool = ProcessPoolExecutor(processes, mp_context=multiprocessing.get_context("spawn"))
    try:
        started = {pool.submit(work, *values): name for name, values in waiting.items()}
        for future in as_completed(started):
            _write(folder, started[future], future.result())
            done += 1
            yield done
    finally:
        pool.shutdown(cancel_futures=True)


def results(tasks: Mapping[str, tuple[Any, ...]], folder: Path) -> dict[str, Result]:
    """The results of those tasks that are done."""
    found = {}
    for name in tasks:
        path = folder / f"{name}.json"
        if path.exists():
            try:
                found[name] = json.loads(path.read_text(encoding="utf-8"))
            except ValueError as error:
                raise MixfieldError(f"{path} is no result of a task ({error}); remove it and run again") from None
    return found


def largest(names: Sequence[Sequence[str]], folder: Path) -> list[Result]:
    """Of tasks that differ in how far they go, nearest first, the result of the farthest that is done, if any is."""
    found = results({name: () for group in names for name in group}, folder)
    best = (next((found[name] for name in reversed(group) if name in found), None) for group in names)
    return [result for result in best if result is not None]


def _write(folder: Path, name: str, result: Result) -> None:
    part = folder / f"{name}.part"
    part.write_text(json.dumps(result), encoding="utf-8")
    part.replace(folder / f"{name}.json")
