"""Dense CRFs: parallel updates, one filtering of all modes and labels per iteration."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mixfield import _arrays
from mixfield.energy.active_labels import active_labels
from mixfield.energy.dense_crf import DenseCRF
from mixfield.energy.unary import FORBIDDEN
from mixfield.filters.buffers import BufferPool
from mixfield.solvers.dense_fixed_point import FINEST_TOLERANCE, TOLERANCE, Convergence, iterate
from mixfield.solvers.dense_update import DenseUpdate
from mixfield.solvers.generic import GenericSolver
from mixfield.solvers.layout import Layout
from mixfield.solvers.mode import Mode
from mixfield.solvers.options import Ascent, Solver
from mixfield.solvers.tilt import Tilt

Floats = NDArray[np.float64]
Float32s = NDArray[np.float32]


class RepulsiveDenseSolver(GenericSolver):
    """A `DenseCRF` with kernels that favour unequal labels: damped updates, whose free energy is checked."""

    family = "repulsive_dense"
    reports_energies = False
    default_tolerance = TOLERANCE
    slack = 1e-6  # of single precision
    anneals_independently = True  # near T_max, a path from one temperature to the next takes hundreds of updates
    energy: DenseCRF


class DenseSolver(RepulsiveDenseSolver):
    """An attractive `DenseCRF`: plain parallel updates, which cannot raise the free energy.

    ``pool`` holds the buffers of runs that are over; without it each run allocates its own.
    """

    family = "dense"

    def __init__(self, energy: DenseCRF, options: Solver | None = None, pool: BufferPool | None = None) -> None:
        super().__init__(energy, options)
        self.pool = pool

    def solve(
        self,
        q: Floats,
        tilt: Tilt,
        *,
        temperature: float | Floats = 1.0,
        tolerance: float | None = None,
        max_iterations: int | None = None,
    ) -> Ascent:
        if tilt.counts:  # potentials that are not unary
            return super().solve(q, tilt, temperature=temperature, tolerance=tolerance, max_iterations=max_iterations)
        update, layout = self.update(len(q), _channel_bias(tilt)), Layout(self.energy, len(q), self.pool)
        values, run = iterate(
            update,
            layout.pack(q),
            np.full(len(q), temperature, np.float64),
            tolerance=max(self.tolerance if tolerance is None else tolerance, FINEST_TOLERANCE),
            max_iterations=self.max_iterations if max_iterations is None else max_iterations,
        )
        return Ascent(layout.unpack(values), run.iterations, run.change, run.converged)

    def update(self, n_modes: int, bias: Float32s | None = None) -> DenseUpdate:
        """The update of K modes with additional costs ``bias`` (n, L * K), see `Layout`."""
        return DenseUpdate(self.energy, n_modes, bias, threads=self.options.threads, pool=self.pool)

    def from_unaries(self, temperature: float = 1.0) -> tuple[Float32s, Floats, Convergence]:
        """Channels of the mean field that starts at softmax(-U / T), its bound (1,), and how the run went."""
        update = self.update(1)
        tolerance, most = max(self.tolerance, FINEST_TOLERANCE), self.max_iterations
        values, run = iterate(update, None, np.full(1, temperature), tolerance=tolerance, max_iterations=most)
        return values, update.bounds(values, after_step=True), run

    def mode(self, temperature: float, rng: np.random.Generator) -> Mode:  # noqa: ARG002
        """The mean field that starts at softmax(-U / T)."""
        crf, layout = self.energy, Layout(self.energy, 1)
        values, log_z, run = self.from_unaries(temperature)
        stores_all = layout.stored == crf.n_labels  # then the marginals are a view, without a copy
        q = layout.by_label(values)[..., 0] if stores_all else layout.unpack(values)[0]
        return Mode(
            marginals=_arrays.frozen(q.reshape(*crf.shape, crf.n_labels)),
            log_z=float(log_z[0]),
            converged=bool(run.converged[0]),
            iterations=int(run.iterations[0]),
            temperature=temperature,
        )

    def reduced(self) -> tuple[DenseSolver, NDArray[np.int64] | None]:
        """Without the labels that mean field can give no more than a negligible probability anywhere."""
        labels = active_labels(self.energy)[0]
        if len(labels) == self.energy.n_labels:
            return self, None
        return type(self)(self.energy.restricted(labels), self.options, self.pool), labels

    def with_buffers(self) -> DenseSolver:
        return type(self)(self.energy, self.options, BufferPool())


def _channel_bias(tilt: Tilt) -> Float32s:
    """Additional costs of a tilt as channels (n, L * K), in single precision; (n, 0) if all are zero."""
    costs = np.minimum(tilt.bias, FORBIDDEN).astype(np.float32)
    mine = costs[tilt.bias_of] if costs.any() else costs[:0]
    return np.ascontiguousarray(mine.transpose(1, 2, 0)).reshape(costs.shape[1], -1)
