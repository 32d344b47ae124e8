"""Derivatives of the mean field of a dense CRF with respect to costs, weights and compatibilities.

After T updates from the unary costs the field is ``q_T``.  A loss has the derivative ``g`` with respect to ``log q_T``.
`unrolled` goes back update by update (Zheng et al., 2015),

    z_bar_T = g - q_T sum_l g,   z_bar_t = S(q_t) (-sum_m K_m^T z_bar_(t+1) C_m),   dU = -sum_t z_bar_t,

which needs all ``q_t``, see `dense_history`.  At a fixed point q the implicit function theorem gives
``dU = -(I - S K^T)^-1 z_bar``; `implicit` sums the Neumann series, which is the recursion above with every ``q_t``
replaced by q, until its terms are negligible: the memory does not grow with the number of updates.  The series
converges where the updates do, and at the same rate, since both have the same Jacobian.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mixfield import _arrays, _threads, kernels
from mixfield.energy.coupling import Coupling
from mixfield.errors import MixfieldError, NotConvergedWarning
from mixfield.solvers.dense_adjoint import AdjointUpdate
from mixfield.solvers.dense_history import WholeMarginals
from mixfield.solvers.dense_run import Run, support_of

Floats = NDArray[np.float64]
AnyFloats = NDArray[np.floating[Any]]

NEGLIGIBLE = 1e-4  # size of a term of the Neumann series, relative to the first, at which it ends
MOST_TERMS = 200
DIVERGED = 10.0  # size of a term, relative to the first, at which the series is known not to converge


@dataclass(frozen=True, eq=False)
class FieldGradient:
    """Derivatives of a loss.

    Attributes
    ----------
    costs : (n, L) with respect to the unary costs.
    scales : (M,) with respect to a factor of each kernel at one; that of a weight w is ``scales / w``.
    compatibilities : (L, L) with respect to the costs of pairs of labels of each kernel, its weight included; None for
        a Potts kernel.
    probe_scales : (P,) with respect to a factor of each probe, at zero.
    """

    costs: AnyFloats
    scales: Floats
    compatibilities: tuple[Floats | None, ...]
    probe_scales: Floats

    def exponent(self, costs: AnyFloats) -> float:
        """With respect to an exponent of probabilities p: ``costs`` (n, L) are -log p, and U is exponent * costs."""
        return float(np.vdot(self.costs, costs))


def unrolled(
    run: Run, log_bar: AnyFloats, probes: Sequence[Coupling] = (), *, threads: int | None = None
) -> FieldGradient:
    """Derivatives through all updates of a run that has kept its history.

    Parameters
    ----------
    run : of `run_updates`.
    log_bar : (n, L) derivative of the loss with respect to the log-marginals.
    probes : kernels of weight zero with respect to which derivatives are wanted; see `bandwidth_probes`.
    """
    if run.history is None:
        raise MixfieldError("run must have kept its history for the derivative of all updates; pass keep=True to it")
    adjoint, _ = _start(run, log_bar, probes, threads)
    for q in reversed(run.history):
        adjoint.step(q)
    return _gradient(adjoint)


def implicit(
    run: Run,
    log_bar: AnyFloats,
    probes: Sequence[Coupling] = (),
    *,
    tolerance: float = NEGLIGIBLE,
    max_terms: int = MOST_TERMS,
    warn: bool = True,
    threads: int | None = None,
) -> FieldGradient:
    """Derivatives at the fixed point that a run has reached; parameters as for `unrolled`.

    ``tolerance`` is the size of the last term of the series, relative to the first; after ``max_terms`` terms, or one
    that is ten times the first, it ends with a `NotConvergedWarning` if ``warn``.
    """
    adjoint, first = _start(run, log_bar, probes, threads)
    size, terms, q = first, 0, WholeMarginals(run.padded_marginals())
    while run.couplings and tolerance * first < size < DIVERGED * first and terms < max_terms:
        size, terms = adjoint.step(q), terms + 1
    if warn and run.couplings and size > tolerance * first:
        warnings.warn(
            f"the derivative of the fixed point has not converged: the last of {terms} terms is {size / first:.2g} of "
            "the first; make more updates before it, or lower the weights of the kernels",
            NotConvergedWarning,
            stacklevel=2,
        )
    return _gradient(adjoint)


def bound(costs: AnyFloats, couplings: Sequence[Coupling], q: AnyFloats) -> tuple[float, FieldGradient]:
    """``A = H(q) - E_q[E]`` of marginals (n, L) that maximise it, and its derivatives by the envelope theorem.

    ``dA / dU = -q`` and ``dA / dw_m = 1/2 <q, K_m q>``: the marginals need no derivative, also where constraints with
    held multipliers apply.  Exact for symmetric kernels (normalisations "symmetric" and "none"), of which the updates
    are the derivative.
    """
    scales, pairs = np.zeros(len(couplings)), []
    for m, coupling in enumerate(couplings):
        sums, support = support_of(coupling, q)
        scales[m] = 0.5 * np.vdot(q, support)
        pairs.append(None if coupling.compatibility is None else np.asarray(-0.5 * q.T @ sums, np.float64))
    information = float((q * np.log(np.maximum(q, np.finfo(q.dtype).tiny))).sum(dtype=np.float64))
    value = float(scales.sum()) - float(np.vdot(q, costs)) - information
    return value, FieldGradient(-q, scales, tuple(pairs), np.zeros(0))


def _start(
    run: Run, log_bar: AnyFloats, probes: Sequence[Coupling], threads: int | None
) -> tuple[AdjointUpdate, float]:
    """The adjoint updates, begun with ``z_bar_T``, and its largest element."""
    _arrays.check_shape("log_bar", log_bar, run.log_marginals.shape, "= (n, L) of the field")
    if not np.isfinite(log_bar).all():
        raise MixfieldError(
            "the derivative of the loss with respect to the log-marginals must be finite, got NaN or infinity; look "
            "for a logarithm of zero or a division by zero in the loss"
        )
    n, n_labels = log_bar.shape
    used = _threads.available() if threads is None else threads
    dtype = run.log_marginals.dtype
    adjoint = AdjointUpdate(run.couplings, probes, n=n, n_labels=n_labels, dtype=dtype, threads=used)

    def fill(first: int, last: int, z_bar: AnyFloats) -> None:
        kernels.softmax_gradient.pull_back_log(run.log_marginals[first:last], log_bar[first:last], z_bar)

    return adjoint, adjoint.start(fill)


def _gradient(adjoint: AdjointUpdate) -> FieldGradient:
    scales, probe_scales = adjoint.scales
    costs = np.negative(adjoint.total, out=adjoint.total)
    return FieldGradient(costs, scales, adjoint.compatibilities, probe_scales)
