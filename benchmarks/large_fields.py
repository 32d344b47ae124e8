"""Seconds of `mf.infer` on large and multi-label fields, against an older version in turns.

    python benchmarks/large_fields.py [--old OLD/bin/python] [--rows "Potts 60" ...] [--rounds 3]

Each measurement is a process of its own, which first runs a small field of the same kind, so that nothing is compiled
while it is timed.  Wall and processor seconds (all threads) are medians over the rounds, in which the versions take
turns; memory is the peak of the process, T_max the share of its computation.  Without ``--old`` only this version is
measured.  Rows whose ``old`` is False take the first version minutes and are left out of its turns.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median
from unittest.mock import patch

import numpy as np

import mixfield as mf
from mixfield.solvers.factor_graph import FactorGraphSolver

Fields = list[mf.FactorGraph]


def potts(side: int) -> Fields:
    """Five labels with random costs; neighbours pay for different labels."""
    return [mf.FactorGraph.potts_grid(np.random.default_rng(0).normal(size=(side, side, 5)), 0.8)]


def plaquettes(side: int) -> Fields:
    """Binary variables; every 2 x 2 square has a random table."""
    rng, index = np.random.default_rng(0), np.arange(side * side).reshape(side, side)
    corners = np.stack([index[:-1, :-1], index[:-1, 1:], index[1:, :-1], index[1:, 1:]], -1).reshape(-1, 4)
    factors = [(tuple(scope), rng.normal(size=(2, 2, 2, 2))) for scope in corners.tolist()]
    return [mf.FactorGraph.from_factors([2] * side**2, factors)]


def spin_glass(side: int) -> Fields:
    """Couplings and fields of the paper, both signs."""
    return [mf.datasets.random_ising(side)]


def small_grids(count: int) -> Fields:
    """Grids of 13 x 13 of the four families of the paper, ``count`` of each."""
    return [
        mf.datasets.random_ising(13, preset=preset, attractive=attractive, rng=100 + k)
        for preset in ("mmmf", "weller")
        for attractive in (False, True)
        for k in range(count)
    ]


@dataclass(frozen=True)
class Row:
    """What is timed: one call of ``mf.infer`` for each field; the seconds are those of the slowest."""

    fields: Callable[[], Fields]
    small: Callable[[], Fields]
    modes: int = 4
    floor: float = float("nan")
    old: bool = True


ROWS = {
    "Potts 60 x 60 x 5": Row(partial(potts, 60), partial(potts, 8), floor=1.0),
    "Potts 200 x 200 x 5": Row(partial(potts, 200), partial(potts, 8), floor=12.0),
    "4-ary plaquettes 32 x 32": Row(partial(plaquettes, 32), partial(plaquettes, 6), floor=1.0),
    "binary 64 x 64": Row(partial(spin_glass, 64), partial(spin_glass, 8)),
    "binary 512 x 512": Row(partial(spin_glass, 512), partial(spin_glass, 8), floor=15.0),
    "binary 1000 x 1000": Row(partial(spin_glass, 1000), partial(spin_glass, 8), floor=60.0, old=False),
    "13 x 13, 32 modes": Row(partial(small_grids, 5), partial(small_grids, 1), modes=32, floor=0.6),
}


def measure(name: str) -> dict[str, float]:
    """Seconds of the slowest field of a row, the sum of all bounds, the memory of this process in MB, and the share of
    the computation of T_max in all processor seconds."""
    warnings.simplefilter("ignore")
    row = ROWS[name]
    for field in row.small():
        mf.infer(field, row.modes)
    wall, cpu, bound, for_t_max = [], [], 0.0, []
    for field in row.fields():
        before, started = time.process_time(), time.perf_counter()
        with patch.object(FactorGraphSolver, "critical_temperature", timed_t_max(for_t_max)):
            bound += mf.infer(field, row.modes).log_z
        wall.append(time.perf_counter() - started)
        cpu.append(time.process_time() - before)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"wall": max(wall), "cpu": max(cpu), "memory": memory, "bound": bound, "t_max": sum(for_t_max) / sum(cpu)}


def timed_t_max(seconds: list[float]) -> Callable[[FactorGraphSolver], float]:
    """`critical_temperature` that appends its processor seconds."""
    original = FactorGraphSolver.critical_temperature

    def timed(solver: FactorGraphSolver) -> float:
        started = time.process_time()
        t_max = original(solver)
        seconds.append(time.process_time() - started)
        return t_max

    return timed


def measured_by(python: str, name: str) -> dict[str, float]:
    """`measure` in a process of another interpreter; ``PYTHONPATH`` belongs to this one."""
    command = [python, str(Path(__file__).resolve()), "--measure", name]
    inherited = {key: value for key, value in os.environ.items() if python == sys.executable or key != "PYTHONPATH"}
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, env=inherited)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def print_row(name: str, versions: dict[str, str], rounds: int) -> None:
    """Medians of each version, one line of a table each."""
    found: dict[str, list[dict[str, float]]] = {version: [] for version in versions}
    for k in range(rounds):
        for version in sorted(versions, reverse=k % 2 == 1):
            if version == "new" or ROWS[name].old:
                found[version].append(measured_by(versions[version], name))
    for version, runs in found.items():
        if runs:
            keys = ("wall", "cpu", "memory", "bound", "t_max")
            wall, cpu, memory, bound, t_max = (median(run[key] for run in runs) for key in keys)
            seconds = f"{ROWS[name].floor:g} | {wall:.2f} | {cpu:.2f} | {100 * t_max:.1f}"
            print(f"| {name} | {version} | {seconds} | {memory:.0f} | {bound:.4f} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--old", help="interpreter that has the older version installed")
    parser.add_argument("--rows", nargs="*", default=[""], help="rows whose names contain one of these")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(measure(options.measure)))
        return
    versions = {"new": sys.executable} | ({"old": options.old} if options.old else {})
    print("| field | version | floor, s | wall, s | cpu, s | T_max, % | memory, MB | log_z |")
    print("|---|---|---|---|---|---|---|---|")
    for name in ROWS:
        if any(part in name for part in options.rows):
            print_row(name, versions, options.rounds)


if __name__ == "__main__":
    main()
