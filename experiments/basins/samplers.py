"""The samplers that are compared, each with its settings, as functions that sample for some seconds."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import dimod

from mixfield.bridges.dimod import MixfieldSampler
from mixfield.errors import MixfieldError

PACKAGES = ("dwave-samplers", "openjij", "networkx")
OURS = "mixfield"
ANNEALING, TABU, OPENJIJ = "dwave annealing", "dwave tabu", "openjij annealing"
PEERS = (ANNEALING, TABU, OPENJIJ)
MOST_BASINS = 20_000
READS, FEW_READS = 20, 4  # between two looks at the clock

Sample = Callable[[dimod.BinaryQuadraticModel, int], dimod.SampleSet]


def peer_versions() -> dict[str, str]:
    """The installed versions; an error if one is missing."""
    try:
        return {name: version(name) for name in PACKAGES}
    except PackageNotFoundError as error:
        raise MixfieldError(f"this experiment needs {error.name}; pip install {' '.join(PACKAGES)}") from None


def ours(bqm: dimod.BinaryQuadraticModel, seconds: float, seed: int) -> dimod.SampleSet:
    """As many modes and minima as there is time for."""
    return MixfieldSampler().sample(bqm, n_modes=MOST_BASINS, seconds=seconds, seed=seed)


def peers() -> Iterator[tuple[str, str, Sample]]:
    """Method, setting, and a call for `READS` samples with a seed."""
    dwave = import_module("dwave.samplers")
    annealing, tabu = dwave.SimulatedAnnealingSampler(), dwave.TabuSampler()
    for sweeps in (10, 100, 1000):
        yield ANNEALING, f"{sweeps} sweeps", partial(_reads, annealing, num_sweeps=sweeps)
    for milliseconds in (1, 20):
        yield TABU, f"{milliseconds} ms a read", partial(_reads, tabu, num_reads=FEW_READS, timeout=milliseconds)
    openjij = import_module("openjij").SASampler()
    for sweeps in (100, 1000):
        yield OPENJIJ, f"{sweeps} sweeps", partial(_unseeded_reads, openjij, num_sweeps=sweeps)


def _reads(sampler: Any, bqm: dimod.BinaryQuadraticModel, seed: int, **options: int) -> dimod.SampleSet:
    return sampler.sample(bqm, seed=seed, **{"num_reads": READS, **options})


def _unseeded_reads(sampler: Any, bqm: dimod.BinaryQuadraticModel, _: int, *, num_sweeps: int) -> dimod.SampleSet:
    """Without a seed: with one, all reads of a call of openjij are the same."""
    return sampler.sample(bqm, num_reads=READS, num_sweeps=num_sweeps)


def repeated(sample: Sample, bqm: dimod.BinaryQuadraticModel, seconds: float, seed: int) -> dimod.SampleSet:
    """The samples of as many calls as begin within some processor seconds."""
    started = time.process_time()
    found: list[dimod.SampleSet] = []
    while time.process_time() - started < seconds:
        found.append(sample(bqm, seed + len(found)))
    return dimod.concatenate(found)
