"""KSP and KSP*: how long they take, and how close to the bound they come.

    python benchmarks/tracking.py [--seeds 3] [--pruning]

Walks with doubts (80 frames, up to 4 modes, 1600 cells, 8 people), and the same people seen by four modes with noise of
their own, which is far harder than what a detector gives: each mode misses one person in ten, and adds a false one.

``--pruning`` asks what the paper's pruning loses: it keeps the cells that some mode holds likely, and asks in passing
whether the optimum survives.  Optima on these cells, on these and the bridges between them, and on all cells.
"""

from __future__ import annotations

import argparse
import runpy
import time
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import mixfield as mf
from mixfield.scene import Ground
from mixfield.temporal.choice import choose_modes
from mixfield.temporal.costs import ModeCosts, frame_costs, stack
from mixfield.temporal.flow import disjoint_paths
from mixfield.temporal.program import Program
from mixfield.temporal.search import PROMISING, bridged
from mixfield.temporal.timegrid import Ends, Motion, unroll

EXPERIMENTS = Path(__file__).resolve().parents[1] / "experiments"  # not installed

doubtful_walk = runpy.run_path(str(EXPERIMENTS / "tracking" / "doubts.py"))["doubtful_walk"]

PRICES = {"posterior": mf.temporal.posterior_price, "printed": mf.temporal.printed_price}


def doubts(seed: int, price: str) -> ModeCosts:
    walk = doubtful_walk(80, rng=seed)
    maps = [np.stack([mode.marginals[..., 1].ravel() for mode in p.modes]) for p in walk.posteriors]
    return stack([frame_costs(p.weights, q, price=PRICES[price]) for p, q in zip(walk.posteriors, maps, strict=True)])


def noise(seed: int, price: str, modes: int = 4) -> ModeCosts:
    rng = np.random.default_rng(seed)
    walk = doubtful_walk(80, rng=seed)
    frames = []
    for t in range(80):
        here = walk.truth[walk.truth["frame"] == t]
        cells = (here["y"] // 0.5).astype(int) * 40 + (here["x"] // 0.5).astype(int)
        q = np.minimum(1e-3 * np.exp(rng.normal(0.0, 1.5, (modes, 1600))), 0.3)
        for k in range(modes):
            seen = cells[rng.random(len(cells)) < 0.9]
            q[k, seen] = rng.uniform(0.6, 0.99, len(seen))
            q[k, rng.integers(1600)] = rng.uniform(0.5, 0.99)
        frames.append(frame_costs(rng.dirichlet(np.ones(modes)), q, price=PRICES[price]))
    return stack(frames)


def main(seeds: int) -> None:
    motion = Motion((40, 40), 1, Ground((40, 40), 0.5).border(), 5.0)
    grid = unroll(np.ones((80, 1600), bool), motion, Ends.open(motion))
    print("| modes | price | KSP, 1.1 M arcs, s | KSP*, s | gap %, mean | worst |")
    print("|---|---|---|---|---|---|")
    for family in (doubts, noise):
        for price in PRICES:
            flows, times, gaps = [], [], []
            for seed in range(seeds):
                costs = family(seed, price)
                started = time.perf_counter()
                disjoint_paths(grid.graph, np.ascontiguousarray(costs.cell[:, 0]).ravel())
                flows.append(time.perf_counter() - started)
                started = time.perf_counter()
                choice = choose_modes(costs, motion)
                times.append(time.perf_counter() - started)
                gaps.append(100 * (choice.cost - choice.bound) / abs(choice.cost))
            print(
                f"| {family.__name__} | {price} | {np.median(flows):.2f} | {np.median(times):.1f} "
                f"| {np.mean(gaps):.3f} | {max(gaps):.3f} |",
                flush=True,
            )


def pruning(seeds: int) -> None:
    """Optima on fewer cells against the answer on all of them."""
    motion = Motion((40, 40), 1, Ground((40, 40), 0.5).border(), 5.0)
    print("| modes | seed | likely cells | and bridges | all cells | bound | the paper loses % | with bridges % |")
    print("|---|---|---|---|---|---|---|---|")
    for family in (doubts, noise):
        for seed in range(seeds):
            costs = family(seed, "printed")
            likely = costs.cell.min(1) <= PROMISING
            few, more = (_optimum(costs, motion, cells) for cells in (likely, bridged(likely, motion)))
            choice = choose_modes(costs, motion)
            lost = [100 * (choice.cost - cost) / choice.cost for cost in (few, more)]
            print(
                f"| {family.__name__} | {seed} | {few:.2f} | {more:.2f} | {choice.cost:.2f} | {choice.bound:.2f} "
                f"| {lost[0]:.2f} | {lost[1]:.2f} |",
                flush=True,
            )


def _optimum(costs: ModeCosts, motion: Motion, cells: NDArray[np.bool_]) -> float:
    """The least cost on some cells."""
    grid = unroll(cells, motion, Ends.open(motion))
    modes = Program.build(costs, grid, costs.allowed).solve(seconds=120.0).modes
    return disjoint_paths(grid.graph, costs.chosen(modes)[grid.frame, grid.cell]).cost + costs.price(modes)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--pruning", action="store_true")
    options = parser.parse_args()
    choose_modes(doubts(0, "posterior"), Motion((40, 40)), time_limit=5)  # compile
    (pruning if options.pruning else main)(options.seeds)
