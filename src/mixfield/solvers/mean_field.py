"""Mean field: one door to the updates, whatever the energy."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mixfield import _arrays, _threads
from mixfield.energy.active_labels import active_labels, restored
from mixfield.energy.base import Energy, allowed_labels, check
from mixfield.energy.dense_crf import DenseCRF
from mixfield.energy.factor_graph import FactorGraph
from mixfield.energy.occupancy import Occupancy
from mixfield.errors import InfeasibleWarning, MixfieldError, NotConvergedWarning
from mixfield.solvers import dense, packing, starts
from mixfield.solvers import factor_graph as coordinate
from mixfield.solvers import generic as parallel
from mixfield.solvers import occupancy as silhouettes
from mixfield.solvers.ascent import Ascent
from mixfield.solvers.dense_update import Iteration
from mixfield.solvers.free_energy import bounds
from mixfield.solvers.mode import Mode
from mixfield.solvers.tilt import Tilt

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Solver:
    """How mean fields are computed.

    Attributes
    ----------
    tolerance : a run has converged when no marginal moves by more than this; if not given, 1e-6, or 1e-3 for the many
        pixels of a `DenseCRF`.
    max_iterations : sweeps or updates of one run; updates of those pixels of a dense field that still move count too.
    threads : threads for compiled loops; they do not change the result.
    """

    tolerance: float | None = None
    max_iterations: int = 2000
    threads: int = field(default_factory=_threads.available)

    def __post_init__(self) -> None:
        if self.tolerance is not None:
            _arrays.positive("tolerance", self.tolerance)
        _arrays.at_least("max_iterations", self.max_iterations, 1)
        _arrays.at_least("threads", self.threads, 1)

    def tolerance_for(self, energy: Energy) -> float:
        """The tolerance that was asked for, or the default for such an energy."""
        if self.tolerance is not None:
            return self.tolerance
        return dense.SETTLED if isinstance(energy, DenseCRF) else 1e-6

    def ascend(
        self,
        energy: Energy,
        q: Floats,
        tilt: Tilt,
        *,
        temperature: float | Floats = 1.0,
        tolerance: float | None = None,
        max_iterations: int | None = None,
    ) -> Ascent:
        """Bring a batch of modes (K, n, L) to their nearest optimum."""
        heat = np.full(len(q), temperature, np.float64)  # a copy: one kind of array to compile for
        tolerance = self.tolerance_for(energy) if tolerance is None else tolerance
        max_iterations = self.max_iterations if max_iterations is None else max_iterations
        if isinstance(energy, DenseCRF) and energy.is_attractive and not tilt.counts:
            return dense.ascend(
                energy,
                q,
                tilt,
                temperature=heat,
                tolerance=max(tolerance, dense.SINGLE),
                max_iterations=max_iterations,
                threads=self.threads,
            )
        if isinstance(energy, Occupancy):
            return silhouettes.ascend(
                energy,
                q,
                tilt,
                temperature=heat,
                tolerance=tolerance,
                max_iterations=max_iterations,
                threads=self.threads,
            )
        if not isinstance(energy, FactorGraph):
            slack = 1e-6 if isinstance(energy, DenseCRF) else 1e-9  # single precision tells no more
            return parallel.ascend(
                energy, q, tilt, temperature=heat, tolerance=tolerance, max_iterations=max_iterations, slack=slack
            )
        ascent = coordinate.ascend(
            energy,
            q,
            tilt,
            penalty=hard_penalty(energy),
            temperature=heat,
            tolerance=tolerance,
            max_iterations=max_iterations,
            threads=self.threads,
        )
        return _trimmed(energy, ascent) if energy.has_hard_factors else ascent

    def explore(self, energy: Energy, count: int, bias: Floats, heat: Floats, rng: np.random.Generator) -> Floats:
        """Starting points (count, n, L) of good modes, by cooling from many random states.

        On a factor graph each is a labeling cooled by Gibbs sampling; other energies are cooled by mean field from a
        random point.  ``heat`` lists the temperatures, ``bias`` (n, L) forbids what the cell forbids.
        """
        allowed = np.isfinite(bias)
        tilt = Tilt.shared(bias, count)
        if count == 0:
            return np.empty((0, *bias.shape))
        if isinstance(energy, FactorGraph):
            labels = starts.one_hot(starts.labels(np.repeat(allowed[None], count, 0), rng), energy.n_labels)
            seeds = rng.integers(0, 2**63, count, dtype=np.uint64)
            return coordinate.draw(
                energy,
                labels,
                tilt,
                penalty=soft_penalty(energy),
                temperatures=heat,
                seeds=seeds,
                threads=self.threads,
            )
        q = starts.random(np.repeat(allowed[None], count, 0), rng)
        for temperature in heat:
            q = self.ascend(energy, q, tilt, temperature=float(temperature), tolerance=1e-2, max_iterations=3).q
        return q


def hard_penalty(graph: FactorGraph) -> float:
    """A price of forbidden states that no finite cost can outweigh."""
    return 1e4 * max(1.0, graph.cost_scale) if graph.has_hard_factors else 0.0


def soft_penalty(graph: FactorGraph) -> float:
    """A price at which a sampler can still cross forbidden states."""
    return 10.0 + 2.0 * graph.cost_scale if graph.has_hard_factors else 0.0


def _trimmed(graph: FactorGraph, ascent: Ascent) -> Ascent:
    """Without the traces of probability that forbidden states keep: the smallest trim that leaves none of them."""
    q = ascent.q
    waiting = np.arange(len(q))
    for trace in (1e-9, 1e-6, 1e-4, 1e-2, 1e-1):
        kept = np.where(ascent.q[waiting] < trace, 0.0, ascent.q[waiting])
        q[waiting] = kept / kept.sum(-1, keepdims=True)
        waiting = waiting[graph.violation(q[waiting]) > 0]
        if len(waiting) == 0:
            break
    return Ascent(q, ascent.iterations, ascent.change, ascent.converged)


def mean_field(
    energy: Energy,
    *,
    temperature: float = 1.0,
    restarts: int = 1,
    rng: int | np.random.Generator = 0,
    start: ArrayLike | None = None,
    anneal_from: float | None = None,
    solver: Solver | None = None,
) -> Mode:
    """The best product distribution found from one or several starts.

    Parameters
    ----------
    energy : any energy, see `mixfield.energy.Energy`.
    temperature : T of ``P^T ~ exp(-E / T)``.
    restarts : number of starts; the first is nearly uniform, the others are random.
    rng : seed or generator.
    start : (*shape, L) marginals to start from instead (a warm start).
    anneal_from : come down from this temperature in small steps, each started from the one before.
    solver : tolerance, iteration limit and threads.

    Returns
    -------
    Mode
        With the highest bound.  ``converged`` is also a `NotConvergedWarning` when it is False.

    Examples
    --------
    >>> import mixfield as mf
    >>> mode = mf.mean_field(mf.FactorGraph.ising([0.1, 0.0], [(0, 1)], 2.0))
    >>> mode.labeling()
    array([1, 1])
    """
    check(energy)
    solver = solver or Solver()
    heat = _arrays.positive("temperature", temperature)
    _arrays.at_least("restarts", restarts, 1)
    generator = _arrays.generator(rng)
    plain = restarts == 1 and start is None and anneal_from is None
    if isinstance(energy, DenseCRF) and energy.is_attractive and plain:
        mode = _dense_mean_field(energy, heat, solver)
        warn_if_doubtful([mode])
        return mode
    allowed = allowed_labels(energy)
    tilt = Tilt.shared(np.where(allowed, 0.0, np.inf), restarts)
    q = np.stack([_start(energy, allowed, start, k, generator) for k in range(restarts)])
    if anneal_from is not None:
        for step in np.geomspace(_arrays.positive("anneal_from", anneal_from), heat, 20)[:-1]:
            q = solver.ascend(energy, q, tilt, temperature=float(step), tolerance=1e-3).q
    ascent = solver.ascend(energy, q, tilt, temperature=heat)
    if isinstance(energy, FactorGraph) and np.isneginf(bounds(energy, ascent.q)).all():
        # no start led to a feasible state: look for one by sampling
        q = solver.explore(energy, restarts, tilt.bias[0], np.geomspace(10.0, 1.0, 1000), generator)
        ascent = solver.ascend(energy, q, tilt, temperature=heat)
    best = int(np.argmax(bounds(energy, ascent.q, heat)))
    mode = Mode(
        marginals=_arrays.frozen(ascent.q[best].reshape(*energy.shape, energy.n_labels)),
        log_z=float(bounds(energy, ascent.q[best : best + 1])[0]),
        converged=bool(ascent.converged[best]),
        iterations=int(ascent.iterations[best]),
        temperature=heat,
    )
    warn_if_doubtful([mode])
    return mode


def _dense_mean_field(crf: DenseCRF, heat: float, solver: Solver) -> Mode:
    """The mean field of a dense CRF that starts where pixels do not hear of each other, without labels that cannot
    matter."""
    labels = active_labels(crf)[0] if heat == 1.0 else np.arange(crf.n_labels)
    small = crf.restricted(labels) if len(labels) < crf.n_labels else crf
    iteration = Iteration(small, 1, packing.no_bias(small), threads=solver.threads)
    values, run = dense.climb(
        iteration,
        None,
        np.full(1, heat),
        tolerance=max(solver.tolerance_for(crf), dense.SINGLE),
        max_iterations=solver.max_iterations,
    )
    log_z = iteration.bounds(values, untouched=True)
    if small.channels == len(labels):  # all are there: no copy
        q = packing.by_label(small, values, 1)[..., 0].reshape(*crf.shape, len(labels))
    else:
        q = packing.unpack(small, values, 1)[0].reshape(*crf.shape, len(labels))
    return Mode(
        marginals=_arrays.frozen(q) if small is crf else restored(q, labels, crf.n_labels),
        log_z=float(log_z[0]),
        converged=bool(run.converged[0]),
        iterations=int(run.iterations[0]),
        temperature=heat,
    )


def _start(
    energy: Energy, allowed: NDArray[np.bool_], start: ArrayLike | None, k: int, rng: np.random.Generator
) -> Floats:
    """Where run ``k`` begins: at the point given, else near the uniform point, and at random points after that."""
    if k > 0:
        return starts.random(allowed, rng)
    if start is None:
        return starts.first(energy, allowed, rng)
    q = _arrays.floats("start", start)
    _arrays.check_shape("start", q, (*energy.shape, energy.n_labels), "= (*shape, L) of the energy")
    q = np.where(allowed, q.reshape(allowed.shape), 0.0)
    if (q < 0).any() or not np.isfinite(q).all() or (q.sum(-1) <= 0).any():
        raise MixfieldError("start must hold probabilities, some of them positive on allowed labels of each variable")
    return np.asarray(q / q.sum(-1, keepdims=True))


def warn_if_doubtful(modes: Sequence[Mode]) -> None:
    """Say what the fields of the result say: not converged, or nothing feasible found."""
    late = sum(not mode.converged for mode in modes)
    if late:
        warnings.warn(
            f"{late} of {len(modes)} mean fields stopped at their iteration limit; raise max_iterations "
            "or tolerance of mf.Solver",
            NotConvergedWarning,
            stacklevel=3,
        )
    lost = sum(mode.log_z == -np.inf for mode in modes)
    if lost:
        warnings.warn(
            f"{lost} of {len(modes)} mean fields put mass on forbidden states (log_z = -inf); try more restarts",
            InfeasibleWarning,
            stacklevel=3,
        )
