"""Images that do not fit: blocks against the whole, growth, workers, a killed run; and one large field in memory.

    python benchmarks/large.py                          # all rows, small
    python benchmarks/large.py whole --side 4000        # labels and log_z of blocks against the whole
    python benchmarks/large.py growth --side 5000 --side 10000   # peak memory and time of zarr in, zarr out
    python benchmarks/large.py workers --side 4096      # two workers against one, and a loop that only computes
    python benchmarks/large.py killed --side 2048       # kill -9 and resume
    python benchmarks/large.py memory --side 4000       # one mode of (3/4 side, side, 21) in memory

Kernels are DeepLab's.  Each measurement is a process of its own; peak memory is its ru_maxrss.  Data as in large_cases.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
from large_cases import mosaic, write_zarr

import mixfield as mf
from mixfield import batch

SMALL = {"whole": 1536, "growth": 1536, "workers": 2048, "killed": 1024, "memory": 1000}
GIGA = 1e9


def peak_bytes() -> int:
    """Largest resident memory of this process so far."""
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def cpu_seconds() -> float:
    """Processor time of this process and of its children that have ended."""
    own, others = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return own.ru_utime + own.ru_stime + others.ru_utime + others.ru_stime


def in_child(step: str, *arguments: object) -> dict[str, float]:
    """Run a step of this file in a process of its own and return what it prints."""
    call = [sys.executable, __file__, "--step", step, *map(str, arguments)]
    return json.loads(subprocess.run(call, check=True, stdout=subprocess.PIPE).stdout.splitlines()[-1])


# ---------------------------------------------------------------- steps, each in its own process


def solve_whole(folder: str, side: str) -> dict[str, float]:
    """The mean field of the whole image."""
    image, scores = mosaic(int(side), int(side))
    started = time.perf_counter()
    mode = mf.mean_field(mf.DenseCRF.from_probabilities(scores, image))  # never in blocks, unlike `mf.segment`
    np.save(f"{folder}/whole.npy", mode.labeling().astype(np.uint8))
    return {"log_z": mode.log_z, "seconds": time.perf_counter() - started, "cpu": cpu_seconds(), "peak": peak_bytes()}


def solve_blocks(folder: str, side: str, halo: str) -> dict[str, float]:
    """The same block by block."""
    image, scores = mosaic(int(side), int(side))
    started = time.perf_counter()
    out = f"{folder}/blocks_{halo}.npy"
    answer = mf.segment_large(
        image, scores, out, n_modes=1, kernels=mf.Kernels.deeplab(), halo=int(halo), progress=False
    )
    return {"log_z": answer.log_z, "seconds": time.perf_counter() - started, "cpu": cpu_seconds(), "peak": peak_bytes()}


def solve_zarr(image: str, scores: str, out: str, workers: str = "0") -> dict[str, float]:
    """Zarr in, zarr out, one mode; 0 workers are this process."""
    engine = batch.Processes(int(workers)) if int(workers) else None
    started = time.perf_counter()
    answer = mf.segment_large(
        image, scores, out, n_modes=1, kernels=mf.Kernels.deeplab(), engine=engine, progress=False
    )
    return {"log_z": answer.log_z, "seconds": time.perf_counter() - started, "cpu": cpu_seconds(), "peak": peak_bytes()}


def solve_in_memory(side: str, field: str) -> dict[str, float]:
    """One mode of (3/4 side, side, 21) in memory, of kernels or of the model; the peak is beyond image and scores."""
    image, scores = mosaic(3 * int(side) // 4, int(side), 21)
    given, started = image.nbytes + scores.nbytes, time.perf_counter()
    mode = mf.segment(image, scores, 1, kernels=mf.Kernels.deeplab() if field == "kernels" else None).modes[0]
    seconds = time.perf_counter() - started
    digest = int.from_bytes(hashlib.sha256(mode.labeling().tobytes()).digest()[:4], "big")
    return {
        "log_z": mode.log_z, "seconds": seconds, "cpu": cpu_seconds(), "peak": peak_bytes() - given, "labels": digest
    }  # fmt: skip


STEPS: dict[str, Callable[..., dict[str, float]]] = {
    step.__name__: step for step in (solve_whole, solve_blocks, solve_zarr, solve_in_memory)
}

# ---------------------------------------------------------------- rows


def row_whole(side: int, folder: Path, halos: list[int] | None) -> None:
    """Labels and log_z of blocks against the whole, for several halos."""
    whole = in_child("solve_whole", folder, side)
    print(f"whole {side} x {side}: {whole['seconds']:.0f} s, {whole['peak'] / GIGA:.2f} GB")
    truth = np.load(folder / "whole.npy")
    for halo in halos or (0, 64, 144, 208):
        found = in_child("solve_blocks", folder, side, halo)
        equal = float((np.load(folder / f"blocks_{halo}.npy") == truth).mean())
        error = abs(found["log_z"] / whole["log_z"] - 1)
        print(
            f"  halo {halo:3d}: labels equal {100 * equal:.3f} %, log_z {error:.1e}, {found['cpu'] / whole['cpu']:.2f} "
            f"of the CPU time of the whole, {found['peak'] / GIGA:.2f} GB"
        )


def row_growth(sides: list[int], folder: Path) -> None:
    """Peak memory and time by size."""
    before: tuple[int, float] | None = None
    for side in sides:
        paths = write_zarr(folder, side)
        found = in_child("solve_zarr", *paths, folder / f"labels_{side}.zarr")
        pixels = side * side / 1e6
        grown = "" if before is None else f", {found['cpu'] / before[1]:.2f} times the CPU of {before[0]}"
        print(
            f"{side} x {side} x 4 zarr: {found['peak'] / GIGA:.2f} GB, {found['seconds']:.0f} s, "
            f"{found['cpu'] / pixels:.2f} s of CPU per megapixel{grown}"
        )
        before = side, found["cpu"]


def row_workers(side: int, folder: Path) -> None:
    """Two workers with one thread each against one, and what a loop that only computes gains.

    Where the processor time of two is that of one, all that keeps the gain from 2 is waiting: for the last block, and
    for workers that start.  Where it is larger, they share caches and memory, or a core with other programs.
    """
    paths = write_zarr(folder, side)
    found: dict[int, dict[str, float]] = {}
    for workers in (1, 2):
        os.environ["MIXFIELD_THREADS"] = str(workers)  # shared by the workers
        found[workers] = in_child("solve_zarr", *paths, folder / f"workers_{workers}.zarr", workers)
    same = digest(folder / "workers_1.zarr") == digest(folder / "workers_2.zarr")
    one, two = found[1], found[2]
    print(
        f"two workers against one, {side} x {side}: {one['seconds'] / two['seconds']:.2f} times as fast "
        f"({one['seconds']:.0f} and {two['seconds']:.0f} s), {two['cpu'] / one['cpu']:.2f} of its processor time, "
        f"busy {one['cpu'] / one['seconds']:.2f} and {two['cpu'] / two['seconds']:.2f} cores, same bytes: {same}; "
        f"a loop that only computes: {loop_gain():.2f}"
    )


def row_killed(side: int, folder: Path) -> None:
    """Runs that are killed again and again until one ends, against one that is left alone."""
    paths = write_zarr(folder, side)
    solo, broken = folder / "solo.zarr", folder / "broken.zarr"
    started = time.perf_counter()
    in_child("solve_zarr", *paths, solo)
    patience, kills = (time.perf_counter() - started) / 3, 0
    call = [sys.executable, __file__, "--step", "solve_zarr", *map(str, (*paths, broken))]
    while True:
        process = subprocess.Popen(call, stdout=subprocess.DEVNULL, start_new_session=True)
        try:
            process.wait(patience)
            break
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            kills, patience = kills + 1, patience * 1.1
    print(f"killed {kills} times and resumed: same bytes: {digest(solo) == digest(broken)}")


def row_memory(side: int) -> None:
    """One mode of 21 labels in memory."""
    for field in ("kernels", "model"):
        found = in_child("solve_in_memory", side, field)
        print(
            f"{side} x {3 * side // 4} x 21 in memory, {field}, beyond the input: {found['peak'] / GIGA:.2f} GB, "
            f"{found['seconds']:.1f} s ({found['cpu']:.1f} s of CPU with input), log_z {found['log_z']:.1f}, "
            f"labels {found['labels']:08x}"
        )


def digest(path: Path) -> str:
    """SHA-256 of all files of a folder."""
    found = hashlib.sha256()
    for file in sorted(path.rglob("*")):
        if file.is_file():
            found.update(file.relative_to(path).as_posix().encode() + file.read_bytes())
    return found.hexdigest()


def compute(rounds: int) -> int:
    """A loop that only computes."""
    value = 1
    for _ in range(rounds):
        value = (value * 1664525 + 1013904223) % (1 << 32)
    return value


def loop_gain(rounds: int = 10_000_000) -> float:
    """How much faster two processes run `compute` twice than one does."""
    with ProcessPoolExecutor(2) as pool:
        list(pool.map(compute, [1, 1]))
        started = time.perf_counter()
        pool.submit(compute, 2 * rounds).result()
        one = time.perf_counter() - started
        started = time.perf_counter()
        list(pool.map(compute, [rounds, rounds]))
        return one / (time.perf_counter() - started)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", nargs="*", help="whole, growth, workers, killed, memory")
    parser.add_argument("--side", type=int, action="append", help="pixels; may be repeated for growth")
    parser.add_argument("--halo", type=int, action="append", help="pixels, for whole; may be repeated")
    parser.add_argument("--folder", type=Path, help="for arrays; kept")
    parser.add_argument("--step", nargs="+", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.step:
        name, *arguments = options.step
        print(json.dumps(STEPS[name](*arguments)))
        return
    folder = options.folder or Path(tempfile.mkdtemp())
    folder.mkdir(exist_ok=True)
    try:
        for row in options.rows or SMALL:
            sides = options.side or [SMALL[row]]
            if row == "growth":
                row_growth(sides if len(sides) > 1 else [sides[0] // 2, sides[0]], folder)
            elif row == "memory":
                row_memory(sides[0])
            elif row == "whole":
                row_whole(sides[0], folder, options.halo)
            else:
                {"workers": row_workers, "killed": row_killed}[row](sides[0], folder)
    finally:
        if options.folder is None:
            shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
