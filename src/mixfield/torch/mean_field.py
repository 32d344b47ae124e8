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
from mixfield.errors import MixfieldError
from mixfield.torch.field import ImageField, ParameterGradient, Parameters, Settings

T = TypeVar("T")


class MeanField(torch.autograd.Function):
    """Log-marginals (B, L, *shape) of logits (B, L, *shape) and images after the updates of a layer.

    The memory of a contiguous tensor on the CPU is read in place.  The result has the strides of labels last.
    """

    @staticmethod
    def forward(
        ctx: Any,
        settings: Settings,
        keep: bool,
        images: torch.Tensor | None,
        logits: torch.Tensor,
        exponent: torch.Tensor,
        weights: torch.Tensor,
        bandwidths: torch.Tensor,
        compatibility: torch.Tensor | None,
    ) -> torch.Tensor:
        fields = fields_of(settings, images, logits, exponent, weights, bandwidths, compatibility)
        unroll = keep and settings.gradient == "unrolled"
        runs = for_each(lambda b: fields[b].run(keep=unroll), len(fields))
        if keep:
            ctx.fields, ctx.runs, ctx.dtype = fields, runs, logits.dtype
        return log_marginals(runs, logits)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, log_bar: torch.Tensor) -> tuple[Any, ...]:
        check_gradient(log_bar)
        bars, wanted = log_bar.numpy(), ctx.needs_input_grad[6]

        def pull_back(b: int) -> ParameterGradient:
            field: ImageField = ctx.fields[b]
            return field.gradient(field.pull_back(ctx.runs[b], bars[b], bandwidths=wanted))

        return None, None, None, *as_tensors(for_each(pull_back, len(bars)), ctx.dtype)


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


def log_marginals(runs: list[Any], logits: torch.Tensor) -> torch.Tensor:
    """(B, L, *shape) of runs, with labels last in memory and the dtype of the logits."""
    shape = logits.shape
    rows = [run.log_marginals for run in runs]
    array = rows[0][None] if len(rows) == 1 else np.stack(rows)
    planes = torch.from_numpy(array.reshape(shape[0], *shape[2:], shape[1])).movedim(-1, 1)
    return planes.to(logits.dtype)


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


def check_gradient(log_bar: torch.Tensor) -> None:
    """Raise an error for a derivative that is not finite."""
    if not bool(torch.isfinite(log_bar).all()):
        raise MixfieldError(
            "the gradient of the loss with respect to the output of the layer holds NaN or infinity; look for a "
            "logarithm of zero or a division by zero in the loss"
        )


def for_each(work: Callable[[int], T], count: int) -> list[T]:
    """``work(b)`` for every image of a batch, in parallel."""
    if count == 1:
        return [work(0)]
    with ThreadPoolExecutor(min(count, _threads.available(), os.cpu_count() or 1)) as pool:
        return list(pool.map(work, range(count)))
