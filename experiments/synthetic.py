"""Random fields (section 7.1 of the paper): distance to the posterior over the number of modes.

The paper's rule with random and with MaxW groups of one and of three, clamping of single variables, what `infer` does
if nobody says otherwise, and cold restarts for as much compute.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np

from experiments.metered import MeteredSolver
from mixfield.baselines.restarts import reading_order
from mixfield.baselines.single import PLAIN, MaxWVariable
from mixfield.constraints.clamp import Clamp
from mixfield.criteria.phase_transition import Criterion, MaxW, PhaseTransition, RandomGroup
from mixfield.datasets.fields import random_ising
from mixfield.elimination.junction_tree import exact
from mixfield.energy.base import Energy
from mixfield.energy.factor_graph import FactorGraph
from mixfield.errors import MixfieldWarning, TooLargeError
from mixfield.mixture.annealing import Search
from mixfield.mixture.tree import breadth_first, plant
from mixfield.solvers.mean_field import mean_field

MODES = {7: 200, 13: 128}  # the paper's largest numbers of modes
MEMORY = 2e8  # bytes for exact log Z: 7 x 7 always fits, 13 x 13 does on grids
BATCH = 16  # cold starts between two looks at the clock

# The leaves of the paper's tree: annealed, because without it every curve is about bad starts, but not improved
# afterwards, so that the tree with k leaves is the beginning of the tree with more and one run gives the whole curve.
LEAVES = Search(leaf=1, remembered=1, flips=0, polish=0, standing=False)
CLAMP = Clamp(bisections=0)

RULES: dict[str, Criterion] = {
    "OURS-RANDOM, L = 1": PhaseTransition(pick=RandomGroup(size=1)),
    "OURS-RANDOM, L = 3": PhaseTransition(pick=RandomGroup(size=3)),
    "OURS-MAXW, L = 1": PhaseTransition(pick=MaxW(size=1)),
    "OURS-MAXW, L = 3": PhaseTransition(pick=MaxW(size=3)),
    "MAXW, same search": MaxWVariable(),
}
BASELINE, DEFAULT = "BASELINE-MAXW", "mf.infer"
METHODS: dict[str, dict[str, Any]] = {
    name: {"criterion": rule, "order": breadth_first, "search": LEAVES, "clamp": CLAMP} for name, rule in RULES.items()
} | {DEFAULT: {}}
CLAMPING = {"criterion": MaxWVariable(), "order": breadth_first, "search": PLAIN}  # clamp_maxw, in reading order
MATCHED = ("OURS-MAXW, L = 1", "OURS-MAXW, L = 3", DEFAULT)  # whose compute restarts are given


@dataclass(frozen=True)
class Family:
    """One kind of random field."""

    size: int
    preset: str
    attractive: bool
    topology: str

    @property
    def name(self) -> str:
        return f"{self.size}x{self.size}-{self.sign}-{self.topology}-{self.preset}"

    @property
    def sign(self) -> str:
        return "attractive" if self.attractive else "mixed"

    def draw(self, instance: int) -> FactorGraph:
        """The field with this seed."""
        return random_ising(
            self.size, preset=self.preset, attractive=self.attractive, topology=self.topology, rng=instance
        )


def families(presets: Sequence[str] = ("mmmf", "weller"), sizes: Sequence[int] = (13, 7)) -> list[Family]:
    """Sizes, presets, topologies and signs of the paper, and their combinations."""
    kinds = product(sizes, presets, ("grid", "random"), (False, True))
    return [Family(size, preset, attractive, topology) for size, preset, topology, attractive in kinds]


def counts(n_modes: int) -> list[int]:
    """Numbers of modes at which curves are drawn: powers of two, and the last."""
    return sorted({2**k for k in range(n_modes.bit_length()) if 2**k <= n_modes} | {n_modes})


def tasks(kinds: Sequence[Family], instances: int, n_modes: int) -> dict[str, tuple[Family, int, int]]:
    """Every instance with all modes, the first of every family first: wherever the run is stopped, the families are
    equally far."""
    return {
        _task(kind, instance, k): (kind, instance, k)
        for instance in range(instances)
        for kind in kinds
        for k in [min(n_modes, MODES[kind.size])]
    }


def _task(kind: Family, instance: int, n_modes: int) -> str:
    return f"{kind.name}-{n_modes}-{instance:03d}"


def measure(family: Family, instance: int, n_modes: int) -> dict[str, Any]:
    """Bounds, processor seconds and sweeps of every method at every number of modes, on one field."""
    graph = family.draw(instance)
    ks = counts(n_modes)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MixfieldWarning)
        _compile()
        curves = {name: curve(graph, ks, instance, options) for name, options in METHODS.items()}
        curves[BASELINE] = curve(reading_order(graph), ks, instance, CLAMPING)
        cold = mean_field(reading_order(graph), rng=instance, solver=MeteredSolver()).log_z
        restarts = _restarts(graph, curves, instance)
    return {
        "family": asdict(family),
        "instance": instance,
        "modes": ks,
        "exact_log_z": _exact_log_z(graph),
        "mean_field": cold,
        "curves": curves,
        "restarts": restarts,
    }


@lru_cache(maxsize=1)
def _compile() -> None:
    """Load the kernels before the clock starts."""
    for name in ("OURS-MAXW, L = 3", DEFAULT):
        curve(random_ising(4, rng=1), [1, 2, 4], 0, METHODS[name])


def _exact_log_z(graph: FactorGraph) -> float | None:
    try:
        return exact(graph, memory=MEMORY).log_z
    except TooLargeError:
        return None


def curve(graph: Energy, ks: Sequence[int], seed: int, options: Mapping[str, Any]) -> dict[str, Any]:
    """What `infer` with these options returns for each number of modes, from one growing tree.

    Nothing that a smaller tree finds while it is polished reaches the larger ones, and nothing of its cost does.
    """
    log_z, seconds, sweeps = [], [], []
    solver, clock = MeteredSolver(), _Clock()
    growth = plant(graph, rng=seed, solver=solver, **options)
    growth.warm_up()
    for k in ks:
        growth.grow(k)
        grown = clock.read(), solver.meter.sweeps
        finished = growth.fork()
        finished.polish()
        seconds.append(round(clock.read(), 4))
        sweeps.append(solver.meter.sweeps)
        log_z.append(finished.log_z)
        clock.turn_back(grown[0])
        solver.meter.sweeps = grown[1]
    best = max(finished.nodes[k].leaf.log_z for k in finished.leaves)
    return {
        "log_z": log_z,
        "seconds": seconds,
        "sweeps": sweeps,
        "found": len(finished.leaves),
        "best_mode": best,
    }


class _Clock:
    """Processor seconds of this process, which can be turned back."""

    def __init__(self) -> None:
        self._zero = time.process_time()

    def read(self) -> float:
        return time.process_time() - self._zero

    def turn_back(self, seconds: float) -> None:
        self._zero = time.process_time() - seconds


@dataclass(frozen=True)
class _Trail:
    """The best of the cold starts so far, after each batch."""

    seconds: list[float]
    sweeps: list[int]
    best: list[float]

    def within(self, spent: Sequence[float], budgets: Sequence[float]) -> list[float]:
        """With what was known when each budget ran out; the first batch is given away."""
        return [self.best[max(0, int(np.searchsorted(spent, b, side="right")) - 1)] for b in budgets]


def _restarts(graph: FactorGraph, curves: dict[str, Any], seed: int) -> dict[str, Any]:
    """The best cold start for the compute that each method took at each number of modes.

    With equal time: in reading order or colour by colour, whichever is better, each for the full time (reading order
    makes better but far slower sweeps).  With equal sweeps: colour by colour, as the methods themselves sweep.
    """
    budgets = {name: (curves[name]["seconds"], curves[name]["sweeps"]) for name in MATCHED}
    last_second = max(max(seconds) for seconds, _ in budgets.values())
    last_sweep = max(max(sweeps) for _, sweeps in budgets.values())
    colors = _cold_starts(graph, seed, last_second, last_sweep)
    reading = _cold_starts(reading_order(graph), seed, last_second, 0)
    return {
        name: {
            "equal_time": np.maximum(
                colors.within(colors.seconds, seconds), reading.within(reading.seconds, seconds)
            ).tolist(),
            "equal_sweeps": colors.within(colors.sweeps, sweeps),
        }
        for name, (seconds, sweeps) in budgets.items()
    } | {"starts": {"by_color": BATCH * len(colors.best), "reading_order": BATCH * len(reading.best)}}


def _cold_starts(graph: Energy, seed: int, last_second: float, last_sweep: int) -> _Trail:
    """Batch after batch until both budgets are spent."""
    rng, solver, trail = np.random.default_rng([seed, 1]), MeteredSolver(), _Trail([], [], [])
    begun = time.process_time()
    while not trail.best or trail.seconds[-1] < last_second or trail.sweeps[-1] < last_sweep:
        found = mean_field(graph, restarts=BATCH, rng=rng, solver=solver).log_z
        trail.seconds.append(time.process_time() - begun)
        trail.sweeps.append(solver.meter.sweeps)
        trail.best.append(max(found, trail.best[-1]) if trail.best else found)
    return trail
