"""The control: the best of cold starts, with the compute that a method took."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from experiments.synthetic.metered import ONE_THREAD, MeteredGraph
from experiments.synthetic.methods import MATCHED
from mixfield.solvers import mean_field

BATCH = 16  # cold starts between two readings of the clock


@dataclass(frozen=True)
class _History:
    """The best bound so far after each batch of cold starts, and the compute until then."""

    seconds: list[float] = field(default_factory=list)
    sweeps: list[int] = field(default_factory=list)
    best: list[float] = field(default_factory=list)

    def within(self, spent: Sequence[float], budgets: Sequence[float]) -> list[float]:
        """The best bound for each budget; the first batch is free."""
        batches = np.searchsorted(spent, budgets, side="right")
        return [self.best[max(0, int(k) - 1)] for k in batches]


def matched_restarts(graph: MeteredGraph, in_order: MeteredGraph, curves: dict[str, Any], seed: int) -> dict[str, Any]:
    """The best cold start for the compute that each method of `MATCHED` took at each number of modes.

    With equal time: the better of two orders of updates, reading order and colour by colour, each with the full time
    (sweeps in reading order are better but far slower).  With equal sweeps: colour by colour, as the methods do.

    Parameters
    ----------
    graph, in_order : the field, and the same in reading order.
    curves : of the methods.
    seed : of the random starts.
    """
    budgets = {name: (curves[name]["seconds"], curves[name]["sweeps"]) for name in MATCHED}
    most_seconds = max(max(seconds) for seconds, _ in budgets.values())
    most_sweeps = max(max(sweeps) for _, sweeps in budgets.values())
    by_color = _cold_starts(graph, seed, most_seconds, most_sweeps)
    reading = _cold_starts(in_order, seed, most_seconds, 0)
    matched = {
        name: {
            "equal_time": np.maximum(
                by_color.within(by_color.seconds, seconds), reading.within(reading.seconds, seconds)
            ).tolist(),
            "equal_sweeps": by_color.within(by_color.sweeps, sweeps),
        }
        for name, (seconds, sweeps) in budgets.items()
    }
    starts = {"by_color": BATCH * len(by_color.best), "reading_order": BATCH * len(reading.best)}
    return {**matched, "starts": starts}


def _cold_starts(graph: MeteredGraph, seed: int, most_seconds: float, most_sweeps: int) -> _History:
    """Batches of cold starts until both budgets are spent."""
    rng, history, meter = np.random.default_rng([seed, 1]), _History(), graph.meter
    meter.sweeps = 0
    started = time.process_time()
    while not history.best or history.seconds[-1] < most_seconds or history.sweeps[-1] < most_sweeps:
        log_z = mean_field(graph, restarts=BATCH, rng=rng, solver=ONE_THREAD).log_z
        history.seconds.append(time.process_time() - started)
        history.sweeps.append(meter.sweeps)
        history.best.append(max([log_z, *history.best[-1:]]))
    return history
