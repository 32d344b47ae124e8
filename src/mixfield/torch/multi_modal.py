"""A mixture of mean fields as the last layer of a network: several segmentations of an image with their weights."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.autograd.function import once_differentiable

from mixfield import _arrays
from mixfield.errors import FewerModesWarning, MixfieldError, NotConvergedWarning
from mixfield.mixture.tree import infer
from mixfield.solvers.dense_gradients import FieldGradient, bound, implicit
from mixfield.solvers.dense_run import Run, run_from, run_updates_exactly
from mixfield.torch.dense_crf import DenseCRF
from mixfield.torch.field import ImageField, ParameterGradient, Settings
from mixfield.torch.mean_field import BANDWIDTHS, as_tensors, fields_of, for_each

HELD = 0.05  # change of a marginal by one more update, above which a multiplier holds a mode in its cell
SMALLEST = 1e-14  # probability of a label in such a mode


@dataclass(frozen=True, eq=False)
class Modes:
    """The modes of a batch.

    Attributes
    ----------
    log_marginals : (B, K, L, *shape) log q_k.
    bounds : (B, K) A_k, minus infinity where an image has fewer modes; those repeat the first.
    weight_exponent : of exp(A_k) in the weights; 1 in the paper.
    """

    log_marginals: torch.Tensor
    bounds: torch.Tensor
    weight_exponent: torch.Tensor | float = 1.0

    @property
    def log_weights(self) -> torch.Tensor:
        """(B, K) logarithms of the weights, softmax(weight_exponent A_k)."""
        known = torch.isfinite(self.bounds)  # no gradient of an exponent through infinite bounds
        scaled = self.weight_exponent * torch.where(known, self.bounds, 0.0)
        return torch.log_softmax(torch.where(known, scaled, -torch.inf), 1)

    @property
    def log_z(self) -> torch.Tensor:
        """(B,) log Z~, the logarithm of sum_k exp(A_k)."""
        return torch.logsumexp(self.bounds, 1)

    @property
    def labelings(self) -> torch.Tensor:
        """(B, K, *shape) most probable labels of each mode."""
        return self.log_marginals.argmax(2)


class MultiModal(DenseCRF):
    """The modes of the dense CRF of `DenseCRF`, by `mixfield.infer`.

    The cuts that separate the modes are chosen in the forward pass and held in the backward pass: marginals have the
    derivative of their fixed points, bounds that of the envelope theorem.

    Parameters
    ----------
    n_labels : L.
    n_modes : K.
    weight_exponent : first value of the exponent of exp(A_k) in the weights.  With 1, as in the paper, weights of large
        groups are nearly 0 or 1; the likelihood of a mixture says how much they are to be trusted.
    options : of `DenseCRF`.

    Examples
    --------
    >>> import torch
    >>> from mixfield.torch import MultiModal, mixture_nll
    >>> logits = torch.zeros(1, 2, 12, 16)
    >>> logits[:, 1, :, 8:] = 4.0
    >>> logits[:, 1, :, :5] = 0.05
    >>> modes = MultiModal(2, n_modes=2, smooth_weight=2.0)(logits)
    >>> modes.labelings.shape
    torch.Size([1, 2, 12, 16])
    """

    def __init__(self, n_labels: int, n_modes: int = 4, *, weight_exponent: float = 1.0, **options: Any) -> None:
        super().__init__(n_labels, **options)
        self.n_modes = _arrays.at_least("n_modes", n_modes, 1)
        exponent = _arrays.positive("weight_exponent", weight_exponent)
        self.log_weight_exponent = nn.Parameter(torch.tensor(math.log(exponent)))

    def forward(self, logits: torch.Tensor, images: torch.Tensor | None = None) -> Modes:
        """The modes of a batch; arguments as for `DenseCRF`."""
        arguments = self._arguments(logits, images)
        log_q, bounds = ModeFields.apply(self.settings, self.n_modes, *arguments)
        exponent = self.log_weight_exponent.exp().to(logits.device)
        return Modes(log_q.to(logits.device), bounds.to(logits.device), exponent)


@dataclass(frozen=True, eq=False)
class _Found:
    """The modes of one image: runs that end in them, and their bounds."""

    runs: list[Run]
    bounds: list[float]


class ModeFields(torch.autograd.Function):
    """Log-marginals (B, K, L, *shape) and bounds (B, K) of the modes of a batch; arguments as for `MeanField`."""

    @staticmethod
    def forward(ctx: Any, settings: Settings, n_modes: int, *arguments: Any) -> tuple[torch.Tensor, torch.Tensor]:
        fields, logits = fields_of(settings, *arguments), arguments[1]
        found = for_each(lambda b: _modes(fields[b], settings, n_modes), len(fields))
        ctx.fields, ctx.found, ctx.dtype = fields, found, logits.dtype
        bounds = torch.tensor([_padded(one.bounds, n_modes, -np.inf) for one in found], dtype=logits.dtype)
        shape = (logits.shape[0], n_modes, *logits.shape[2:], logits.shape[1])
        rows = [run.log_marginals for one in found for run in _padded(one.runs, n_modes, one.runs[0])]
        return torch.from_numpy(np.stack(rows).reshape(shape)).movedim(-1, 2).to(logits.dtype).contiguous(), bounds

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, log_bar: torch.Tensor, bound_bar: torch.Tensor) -> tuple[Any, ...]:
        bars, scalars = log_bar.numpy(), bound_bar.numpy()
        bandwidths = ctx.needs_input_grad[BANDWIDTHS]
        _check_bound_gradients(scalars, ctx.found)

        def pull_back(b: int) -> ParameterGradient:
            field: ImageField = ctx.fields[b]
            probes = field.probes() if bandwidths else []
            parts = [
                _pull_back(field, run, bars[b, k], float(scalars[b, k]), probes)
                for k, run in enumerate(ctx.found[b].runs)
            ]
            return field.gradient(_sum(parts))

        return None, None, None, *as_tensors(for_each(pull_back, len(bars)), ctx.dtype)


def _check_bound_gradients(bars: Any, found: list[_Found]) -> None:
    """Raise an error unless the derivative with respect to every bound that exists is finite."""
    if not all(np.isfinite(bars[b, : len(one.bounds)]).all() for b, one in enumerate(found)):
        raise MixfieldError(
            "the derivative of the loss with respect to the bounds must be finite, got NaN or infinity; look for "
            "weights of zero in the loss"
        )


def _modes(field: ImageField, settings: Settings, n_modes: int) -> _Found:
    energy, costs = field.energy(), field.costs()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FewerModesWarning)
        warnings.simplefilter("ignore", NotConvergedWarning)
        posterior = infer(energy, n_modes, progress=False)
    runs = [_run(field, energy, mode.marginals.reshape(-1, settings.n_labels), settings) for mode in posterior.modes]
    return _Found(runs, [bound(costs, run.couplings, run.marginals)[0] for run in runs])


def _run(field: ImageField, energy: Any, q: Any, settings: Settings) -> Run:
    """A run that ends in a mode (n, L): by more updates, or, where a multiplier holds it, by none."""
    if np.abs(run_from(energy, q).marginals - q).max() > HELD:
        log_q = np.log(np.maximum(q, SMALLEST)).astype(field.dtype)
        return Run(field.exact_couplings() if settings.exact else energy.couplings, log_q)
    if settings.exact:
        return run_updates_exactly(field.costs(), field.exact_couplings(), settings.updates, start=q)
    return run_from(energy, q, settings.updates)


def _pull_back(field: ImageField, run: Run, log_bar: Any, bound_bar: float, probes: list[Any]) -> FieldGradient:
    """Of the marginals of one mode, and of its bound times ``bound_bar``."""
    q = run.marginals
    marginals = implicit(run, field.rows(log_bar), probes, tolerance=field.tolerance, warn=False)
    envelope = bound(field.costs(), [*run.couplings, *probes], q)[1]
    kernels = len(run.couplings)
    return FieldGradient(
        marginals.costs + q.dtype.type(bound_bar) * envelope.costs,
        marginals.scales + bound_bar * envelope.scales[:kernels],
        tuple(
            None if one is None or other is None else one + bound_bar * other
            for one, other in zip(marginals.compatibilities, envelope.compatibilities, strict=False)
        ),
        marginals.probe_scales + bound_bar * envelope.scales[kernels:],
    )


def _sum(parts: list[FieldGradient]) -> FieldGradient:
    pairs = zip(*(part.compatibilities for part in parts), strict=True)
    return FieldGradient(
        np.sum([part.costs for part in parts], axis=0),
        np.sum([part.scales for part in parts], axis=0),
        tuple(None if any(one is None for one in given) else np.sum(given, axis=0) for given in pairs),
        np.sum([part.probe_scales for part in parts], axis=0),
    )


def _padded(values: list[Any], count: int, filling: Any) -> list[Any]:
    return values + [filling] * (count - len(values))
