"""Throughput of a batch: 64 segmentations by one worker, by two, and by two of Dask; and what an item costs by itself.

    python benchmarks/batch.py            # throughput
    python benchmarks/batch.py --items 10000   # overhead per tiny item and memory, engine by engine

Workers have one thread each.  Times include the start of the workers, and runs take turns, so that a busy machine
disturbs all of them alike; ratios are of medians.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import numpy as np

import mixfield as mf
from mixfield import batch

ENGINES = {
    "one worker": batch.Processes(1),
    "two workers": batch.Processes(2),
    "two workers of Dask": batch.Dask(workers=2),
}


@dataclass(frozen=True)
class Segmented:
    """A synthetic image of this side, segmented by one thread."""

    side: int

    def __call__(self, seed: int, folder: Path) -> None:
        rng = np.random.default_rng(seed)
        rows, columns = np.mgrid[: self.side, : self.side] / self.side
        truth = ((rows - 0.5) ** 2 + (columns - rng.uniform(0.3, 0.7)) ** 2 < 0.08).astype(int)
        image = np.clip(60 + 120 * truth[..., None] + rng.normal(0, 20, (*truth.shape, 3)), 0, 255).astype(np.uint8)
        p = np.clip(0.5 + 0.2 * (truth - 0.5) + rng.normal(0, 0.2, truth.shape), 0.05, 0.95)
        post = mf.segment(image, np.stack([1 - p, p], -1), n_modes=2, solver=mf.Solver(threads=1))
        post.save(folder / f"{seed}.npz")


def tiny(number: int, folder: Path) -> None:
    """Next to nothing."""
    (folder / f"{number % 100}").mkdir()
    (folder / f"{number % 100}" / f"{number}.txt").write_text(str(number))


def seconds(work: batch.Work, count: int, engine: batch.Engine) -> float:
    """Time of a whole batch in a new folder."""
    with tempfile.TemporaryDirectory() as folder:
        started = time.perf_counter()
        outcomes = batch.map(work, [batch.Item(str(k), k) for k in range(count)], Path(folder), engine=engine)
        assert all(outcome.failure is None for outcome in outcomes)
        return time.perf_counter() - started


def throughput(images: int, side: int, rounds: int) -> None:
    seconds(Segmented(side), 1, batch.Serial())  # compiles
    times = {name: [] for name in ENGINES}
    for _ in range(rounds):
        for name, engine in ENGINES.items():
            times[name].append(seconds(Segmented(side), images, engine))
    base = median(times["one worker"])
    print(f"{images} segmentations of {side} x {side} pixels, median of {rounds}")
    for name, found in times.items():
        print(f"{name:22s} {median(found):7.1f} s   {base / median(found):.2f} times one worker")


def overhead(items: int) -> None:
    for name, engine in ({"serial": batch.Serial()} | ENGINES).items():
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        spent = seconds(tiny, items, engine)
        grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
        print(f"{name:22s} {1000 * spent / items:6.2f} ms per item of {items}, driver grew by {grown:.0f} MB")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--images", type=int, default=64)
    parser.add_argument("--side", type=int, default=160)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--items", type=int, help="measure the overhead on so many tiny items instead")
    told = parser.parse_args()
    if told.items:
        overhead(told.items)
    else:
        throughput(told.images, told.side, told.rounds)
