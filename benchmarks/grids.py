"""True KL of mixtures on random 13 x 13 grids, against restarts and clamping of single variables.

    python benchmarks/grids.py [--seeds 20] [--modes 32]

Everything in one run: `mf.infer` with its defaults, the best of 30 cold restarts (in reading order, which is the
stronger control, and colour by colour), restarts for the same wall time as `mf.infer`, and BASELINE-MAXW, at 1, 2, 4,
... modes.  KL(Q || P) = log Z - log Z~ with the exact log Z.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings

import numpy as np

import mixfield as mf

FAMILIES = [(preset, attractive) for preset in ("mmmf", "weller") for attractive in (False, True)]


def restarts_for(graph: mf.FactorGraph, seconds: float, seed: int) -> float:
    """Best bound of cold restarts within ``seconds``."""
    stop, best, batch = time.perf_counter() + seconds, -np.inf, 0
    while time.perf_counter() < stop:
        best = max(best, mf.mean_field(graph, restarts=64, rng=10_000 * seed + batch).log_z)
        batch += 1
    return best


def run(preset: str, attractive: bool, seeds: int, modes: int) -> dict[str, object]:
    counts = [2**k for k in range(modes.bit_length()) if 2**k <= modes]
    ours = np.zeros((seeds, len(counts)))
    maxw = np.zeros_like(ours)
    cold, colored, equal, seconds = np.zeros((4, seeds))
    for seed in range(seeds):
        graph = mf.datasets.random_ising(13, preset=preset, attractive=attractive, rng=seed)
        log_z = mf.exact(graph).log_z
        cold[seed] = log_z - mf.baselines.restarts(graph, 30, rng=seed).log_z
        colored[seed] = log_z - mf.mean_field(graph, restarts=30, rng=seed).log_z
        for k, count in enumerate(counts):
            started = time.perf_counter()
            ours[seed, k] = log_z - mf.infer(graph, count, rng=seed).log_z
            seconds[seed] = time.perf_counter() - started
            maxw[seed, k] = log_z - mf.baselines.clamp_maxw(graph, count, rng=seed).log_z
        equal[seed] = log_z - restarts_for(graph, seconds[seed], seed)
    return {
        "preset": preset,
        "family": "attractive" if attractive else "mixed",
        "modes": counts,
        "ours": ours.mean(0).round(3).tolist(),
        "ours_standard_error": (ours.std(0) / np.sqrt(seeds)).round(3).tolist(),
        "maxw": maxw.mean(0).round(3).tolist(),
        "best_of_30": round(float(cold.mean()), 3),
        "best_of_30_by_color": round(float(colored.mean()), 3),
        "restarts_equal_time": round(float(equal.mean()), 3),
        "ratio": round(float(ours[:, -1].mean() / cold.mean()), 3),
        "median_seconds": round(float(np.median(seconds)), 3),
        "never_above_log_z": bool((ours > -1e-9).all()),
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--modes", type=int, default=32)
    options = parser.parse_args()
    warnings.simplefilter("ignore", mf.errors.FewerModesWarning)
    mf.infer(mf.datasets.random_ising(7), 4)  # compile
    mf.exact(mf.datasets.random_ising(3))
    rows = [run(preset, attractive, options.seeds, options.modes) for preset, attractive in FAMILIES]
    for row in rows:
        print(json.dumps(row))
    print()
    print("| | best of 30 restarts | restarts, equal time | BASELINE-MAXW | mixfield, 1 / 4 / 32 modes | ratio |")
    print("|---|---|---|---|---|---|")
    for row in rows:
        at = dict(zip(row["modes"], row["ours"], strict=True))
        shown = " / ".join(f"{at[c]:.1f}" if c < 32 else f"**{at[c]:.2f}**" for c in (1, 4, 32) if c in at)
        print(
            f"| {row['family']}, preset {row['preset']} | {row['best_of_30']:.1f} | {row['restarts_equal_time']:.1f} "
            f"| {row['maxw'][-1]:.1f} | {shown} | {row['ratio']:.2f} |"
        )
