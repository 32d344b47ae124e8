"""What a layer accepts: tensors are judged once, before anything is computed."""

from __future__ import annotations

import warnings
from functools import cache
from typing import Any

import torch

from mixfield.errors import MixfieldError, MixfieldWarning


def check_logits(logits: Any, n_labels: int) -> None:
    """Raise an error unless logits are (B, L, H, W) or (B, L, D, H, W) of float32 or float64."""
    if not isinstance(logits, torch.Tensor):
        raise MixfieldError(f"logits must be a torch.Tensor, got {type(logits).__name__}; use torch.as_tensor")
    if logits.dtype not in (torch.float32, torch.float64):
        raise MixfieldError(f"logits must be float32 or float64, got {logits.dtype}; call .float()")
    if logits.ndim not in (4, 5) or logits.shape[1] != n_labels or logits.numel() == 0:
        raise MixfieldError(
            f"logits must have shape (B, L, H, W) or (B, L, D, H, W) with L = {n_labels}, got {tuple(logits.shape)}"
        )
    if not bool(torch.isfinite(logits).all()):
        raise MixfieldError("logits must be finite, got NaN or infinity; look for it in the network that made them")


def check_images(images: Any, logits: torch.Tensor) -> None:
    """Raise an error unless images fit the logits."""
    batch, shape = logits.shape[0], tuple(logits.shape[2:])
    if not isinstance(images, torch.Tensor):
        raise MixfieldError(f"images must be a torch.Tensor or None, got {type(images).__name__}")
    if images.ndim != logits.ndim or images.shape[0] != batch or tuple(images.shape[2:]) != shape:
        raise MixfieldError(
            f"images must have shape {(batch, 'channels', *shape)} to match the logits, got {tuple(images.shape)}"
        )
    if images.device != logits.device:
        raise MixfieldError(
            f"images must be on the device of the logits, {logits.device}, got {images.device}; call .to(logits.device)"
        )
    if images.requires_grad:
        raise MixfieldError("images have no gradient in a dense CRF; pass images.detach()")


def readable(images: torch.Tensor) -> torch.Tensor:
    """The images themselves, or in float32 where NumPy does not know their dtype."""
    return images.float() if images.dtype in (torch.bfloat16, torch.float16) else images


def on_cpu(tensor: torch.Tensor) -> torch.Tensor:
    """The tensor itself, or a copy in main memory, with one warning per process."""
    if tensor.device.type == "cpu":
        return tensor
    _warn_of_device(tensor.device.type)
    return tensor.cpu()


@cache
def _warn_of_device(kind: str) -> None:
    warnings.warn(
        f"dense CRFs are solved on the CPU: tensors of {kind} are copied there and back at every call",
        MixfieldWarning,
        stacklevel=5,
    )
