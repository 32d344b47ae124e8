"""The mean field of a batch as a function with a derivative."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import numpy as np
import torch
from torch.autograd.function import once_differentiable

from mixfield import _threads
from mixfield.solvers.dense_run import Run
from mixfield.torch.field import ImageField, ParameterGradient, Parameters, Settings

T = TypeVar("T")

BANDWIDTHS = 6  # their place among the arguments of `MeanField` and `ModeFields`


class MeanField(torch.autograd.Function):
    """Log-marginals (B, L, *shape) after the updates of a layer; the arguments are those of `fields_of`.

    The memory of a tensor on the CPU is read in place.  The result is contiguous: `nll_loss` refuses labels last.
    """

    @staticmethod
    def forward(ctx: Any, settings: Settings, keep: bool, *arguments: Any) -> torch.Tensor:
        fields, logits = fields_of(settings, *arguments), arguments[1]
        unroll = keep and settings.gradient == "unrolled"
        runs = for_each(lambda b: fields[b].run(keep=unroll), len(fields))
        log_q = log_marginals(runs, logits)
        if keep:
            ctx.fields, ctx.couplings, ctx.histories = fields, [r.couplings for r in runs], [r.history for r in runs]
            ctx.save_for_backward(log_q, logits)  # the fields refer to the logits: PyTorch checks that they stay
        return log_q

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, log_bar: torch.Tensor) -> tuple[Any, ...]:
        log_q, _ = ctx.saved_tensors
        planes, bars, wanted = log_q.numpy(), log_bar.numpy(), ctx.needs_input_grad[BANDWIDTHS]

        def pull_back(b: int) -> ParameterGradient:
            field: ImageField = ctx.fields[b]
            run = Run(ctx.couplings[b], field.rows(planes[b]), ctx.histories[b])
            return field.gradient(field.pull_back(run, bars[b], bandwidths=wanted))

        return None, None, None, *as_tensors(for_each(pull_back, len(bars)), log_q.dtype)


def fields_of(
    settings: Settings,
    images: torch.Tensor | None,
    logits: torch.Tensor,
    exponent: torch.Tensor,
    weights: torch.Tensor,
    bandwidths: torch.Tensor,
    compatibility: torch.Tensor | None,
) -> list[ImageField]:
    """The field of each image of a batch."""
    parameters = Parameters(
        float(exponent),
        weights.detach().double().numpy(),
        bandwidths.detach().double().numpy(),
        None if compatibility is None else compatibility.detach().double().numpy(),
    )
    values = logits.detach().numpy()
    pictures = [None] * len(values) if images is None else images.detach().numpy()
    return for_each(lambda b: ImageField(settings, parameters, values[b], pictures[b]), len(values))


def log_marginals(runs: list[Run], logits: torch.Tensor) -> torch.Tensor:
    """(B, L, *shape) of runs, with the dtype of the logits."""
    planes = torch.empty(logits.shape, dtype=logits.dtype)
    for plane, run in zip(planes, runs, strict=True):
        plane.flatten(1).copy_(torch.from_numpy(run.log_marginals).T)
    return planes


def as_tensors(gradients: list[ParameterGradient], dtype: torch.dtype) -> tuple[torch.Tensor | None, ...]:
    """Derivatives of a batch: of the logits of each image, and sums of the others."""
    planes = gradients[0].logits[None] if len(gradients) == 1 else np.stack([one.logits for one in gradients])
    costs = [one.compatibility for one in gradients if one.compatibility is not None]
    return (
        torch.from_numpy(planes).to(dtype),
        torch.tensor(sum(one.exponent for one in gradients), dtype=dtype),
        torch.from_numpy(np.sum([one.weights for one in gradients], axis=0)).to(dtype),
        torch.from_numpy(np.sum([one.bandwidths for one in gradients], axis=0)).to(dtype),
        torch.from_numpy(np.sum(costs, axis=0)).to(dtype) if costs else None,
    )


def for_each(work: Callable[[int], T], count: int) -> list[T]:
    """``work(b)`` for every image of a batch, in parallel."""
    if count == 1:
        return [work(0)]
    with ThreadPoolExecutor(min(count, _threads.available(), os.cpu_count() or 1)) as pool:
        return list(pool.map(work, range(count)))
