"""Bound, processor time and sweeps of a method over the number of modes."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

from experiments.synthetic.metered import ONE_THREAD, MeteredGraph
from mixfield.mixture import start_tree


def mode_curve(
    graph: MeteredGraph, mode_counts: Sequence[int], seed: int, options: Mapping[str, Any]
) -> dict[str, Any]:
    """The results of `infer` for each number of modes, from one growing tree.

    A copy of the tree is polished at each number of modes.  What polishing finds and costs does not count for larger
    numbers, so every point equals a separate run of `infer`.

    Parameters
    ----------
    graph : the field; its meter is set to zero.
    mode_counts : increasing numbers of modes.
    seed : of `infer`.
    options : of `infer`.

    Returns
    -------
    dict
        ``log_z``, ``seconds`` (processor time) and ``sweeps`` at each number of modes; ``found``, the number of modes
        at the end, and ``best_mode``, the largest bound of one of them.
    """
    log_z, seconds, sweeps = [], [], []
    meter, clock = graph.meter, _Clock()
    meter.sweeps = 0
    tree = start_tree(graph, rng=seed, solver=ONE_THREAD, **options)
    tree.improve_root()
    for count in mode_counts:
        tree.grow(count)
        grown_seconds, grown_sweeps = clock.read(), meter.sweeps
        finished = tree.fork()
        finished.polish()
        seconds.append(round(clock.read(), 4))
        sweeps.append(meter.sweeps)
        log_z.append(finished.log_z)
        clock.set(grown_seconds)
        meter.sweeps = grown_sweeps
    best = max(finished.nodes[k].leaf.log_z for k in finished.leaves)
    return {
        "log_z": log_z,
        "seconds": seconds,
        "sweeps": sweeps,
        "found": len(finished.leaves),
        "best_mode": best,
    }


class _Clock:
    """Processor time of this process in seconds, which can be set back."""

    def __init__(self) -> None:
        self._zero = time.process_time()

    def read(self) -> float:
        return time.process_time() - self._zero

    def set(self, seconds: float) -> None:
        self._zero = time.process_time() - seconds
