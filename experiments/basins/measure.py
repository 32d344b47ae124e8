"""All samplers on one binary quadratic model."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any

import dimod

from experiments.basins.counting import DISTANCES, SpinModel, count_basins
from experiments.basins.models import SIZES, draw
from experiments.basins.samplers import OURS, ours, peers, repeated
from experiments.basins.weights import weight_errors
from experiments.measurements import Row
from experiments.quiet import ignore_warnings

SEEDS = range(100, 103)


def tasks(seconds: float) -> dict[str, tuple[str, int, int, float]]:
    """Name and values of every measurement: family, size, seed, seconds."""
    return {
        f"{family} {size} {seed}": (family, size, seed, seconds)
        for family, sizes in SIZES.items()
        for size in sizes
        for seed in SEEDS
    }


def measure(family: str, size: int, seed: int, seconds: float) -> Row:
    """Basins and lowest energies of every sampler, or of a model that can be enumerated the errors of the weights."""
    _compile()
    bqm = draw(family, size, seed)
    row: Row = {"family": family, "size": size, "variables": len(bqm), "seed": seed}
    with ignore_warnings():
        if size == SIZES[family][0]:
            return row | {"errors": weight_errors(bqm, seed)}
        return row | {"samplers": _compared(bqm, seconds, seed)}


def _compared(bqm: dimod.BinaryQuadraticModel, seconds: float, seed: int) -> list[Row]:
    """One row per sampler and setting; the others have the processor seconds that ours took."""
    model = SpinModel(bqm)
    spent, samples = _timed(partial(ours, bqm, seconds, seed))
    found = [(OURS, "", spent, samples)]
    for method, setting, sample in peers():
        found.append((method, setting, *_timed(partial(repeated, sample, bqm, spent, seed))))
    minima = [model.descended(model.spins(samples)) for *_, samples in found]
    energies = [model.energies(spins) for spins in minima]
    lowest = min(float(values.min()) for values in energies)
    return [
        {
            "method": method,
            "setting": setting,
            "seconds": round(spent, 3),
            "reads": len(values),
            "lowest": float(values.min()),
            "basins": dict(zip(map(str, DISTANCES), count_basins(spins, values, lowest), strict=True)),
        }
        for (method, setting, spent, _), spins, values in zip(found, minima, energies, strict=True)
    ]


def _timed(call: Callable[[], dimod.SampleSet]) -> tuple[float, Any]:
    started = time.process_time()
    answer = call()
    return time.process_time() - started, answer


@lru_cache(maxsize=1)
def _compile() -> None:
    """Compile every kernel before times are measured."""
    with ignore_warnings():
        ours(draw("Ising grid", 6, 0), 0.1, 0)
        ours(draw("dense QUBO", 20, 0), 0.1, 0)
