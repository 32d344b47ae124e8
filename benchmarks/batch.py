"""Throughput of a batch: 64 segmentations by one worker, by two, and by two of Dask; and what an item costs by itself.

    python benchmarks/batch.py            # throughput
    python benchmarks/batch.py --items 10000   # overhead per tiny item and memory, engine by engine

Workers have one thread each.  Runs take turns, and ratios are medians over rounds of the ratio within a round, with the
lowest and the highest.  "whole" is the time of the run from the first line to the last, with the start of workers and
cluster and their end; "steady" is the rate between the first result of each worker and the last result.
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
    "one worker": (1, batch.Processes(1)),
    "two workers": (2, batch.Processes(2)),
    "two workers of Dask": (2, batch.Dask(workers=2)),
}


@dataclass(frozen=True)
class Times:
    """Seconds of a whole run, and results per second once every worker has brought one."""

    whole: float
    steady: float


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


def timed(work: batch.Work, count: int, workers: int, engine: batch.Engine) -> Times:
    """A whole batch in a new folder."""
    with tempfile.TemporaryDirectory() as folder:
        started, at = time.perf_counter(), []
        items = [batch.Item(str(k), k) for k in range(count)]
        for outcome in batch.map(work, items, Path(folder), engine=engine):
            assert outcome.failure is None, outcome.failure
            at.append(time.perf_counter())
        whole = time.perf_counter() - started
    steady = (count - workers) / (at[-1] - at[workers - 1]) if count > workers else 0.0
    return Times(whole, steady)


def throughput(images: int, side: int, rounds: int) -> None:
    timed(Segmented(side), 1, 1, batch.Serial())  # compiles
    found = {name: [] for name in ENGINES}
    for _ in range(rounds):
        for name, (workers, engine) in ENGINES.items():
            found[name].append(timed(Segmented(side), images, workers, engine))
    print(f"{images} segmentations of {side} x {side} pixels, medians of {rounds} rounds; ratios to one worker")
    for name, several in found.items():
        rounds_of = list(zip(found["one worker"], several, strict=True))
        whole = sorted(one.whole / times.whole for one, times in rounds_of)
        steady = median(times.steady / one.steady for one, times in rounds_of)
        print(
            f"{name:20s} whole {median(times.whole for times in several):6.1f} s, ratio {median(whole):.2f} "
            f"({whole[0]:.2f}-{whole[-1]:.2f})   steady ratio {steady:.2f}"
        )


def overhead(items: int) -> None:
    for name, (workers, engine) in ({"serial": (1, batch.Serial())} | ENGINES).items():
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        times = timed(tiny, items, workers, engine)
        grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
        print(f"{name:22s} {1000 * times.whole / items:6.2f} ms per item of {items}, driver grew by {grown:.0f} MB")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--images", type=int, default=64)
    parser.add_argument("--side", type=int, default=80)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--items", type=int, help="measure the overhead on so many tiny items instead")
    options = parser.parse_args()
    if options.items:
        overhead(options.items)
    else:
        throughput(options.images, options.side, options.rounds)
