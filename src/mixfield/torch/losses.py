"""The likelihood of a labeling under a mixture of mean fields, and the labeling of least expected regret."""

from __future__ import annotations

import torch

from mixfield.errors import MixfieldError
from mixfield.torch.multi_modal import Modes

IGNORED = -100  # of torch.nn.functional.cross_entropy


def mixture_nll(modes: Modes, targets: torch.Tensor, *, ignore_index: int = IGNORED) -> torch.Tensor:
    """``-log sum_k w_k q_k(y)``, the mean over images, divided by the number of pixels that count.

    Parameters
    ----------
    modes : of `MultiModal`.
    targets : (B, *shape) labels of whole images; ``ignore_index`` where they are not known.
    """
    log_q = modes.log_marginals
    batch, n_modes, n_labels, *shape = log_q.shape
    if tuple(targets.shape) != (batch, *shape):
        raise MixfieldError(f"targets must have shape {(batch, *shape)} to match the modes, got {tuple(targets.shape)}")
    if targets.is_floating_point() or targets.is_complex():
        raise MixfieldError(f"targets must be integer labels, got {targets.dtype}; call .long()")
    known = targets != ignore_index
    if not bool(known.flatten(1).any(1).all()):
        raise MixfieldError("targets must have a known pixel in every image, got one of nothing but ignore_index")
    safe = torch.where(known, targets, torch.zeros_like(targets)).long()
    if int(safe.min()) < 0 or int(safe.max()) >= n_labels:
        raise MixfieldError(f"targets must lie in 0..{n_labels - 1}, got {int(safe.min())} to {int(safe.max())}")
    index = safe[:, None, None].expand(batch, n_modes, 1, *shape)
    picked = log_q.gather(2, index)[:, :, 0] * known[:, None]
    log_likelihood = torch.logsumexp(modes.log_weights + picked.flatten(2).sum(2), 1)
    return -(log_likelihood / known.flatten(1).sum(1)).mean()


def expected_iou_choice(modes: Modes) -> torch.Tensor:
    """(B,) the mode whose labels have the largest expected mean IoU with those of a mode drawn by weight.

    ``argmax_j sum_k w_k IoU(x_j, x_k)``, IoU the mean over the labels that occur in either.
    """
    labels, weights = modes.labelings.flatten(2), modes.log_weights.exp()
    one_hot = torch.nn.functional.one_hot(labels, modes.log_marginals.shape[2]).to(weights.dtype)
    both = torch.einsum("bjnl,bknl->bjkl", one_hot, one_hot)
    sizes = one_hot.sum(2)
    either = sizes[:, :, None] + sizes[:, None] - both
    present = either > 0
    iou = torch.where(present, both / either.clamp(min=1.0), 0.0).sum(-1) / present.sum(-1)
    return torch.einsum("bk,bjk->bj", weights, iou).argmax(1)
