"""A dense CRF as the last layer of a network."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import get_args

import torch
from torch import nn

from mixfield import _arrays
from mixfield.errors import MixfieldError
from mixfield.filters import normalization as normalizations
from mixfield.filters.normalization import Normalization
from mixfield.torch.field import Gradient, Settings
from mixfield.torch.inputs import check_images, check_logits, on_cpu, readable
from mixfield.torch.mean_field import MeanField


class DenseCRF(nn.Module):
    """Mean field of a dense CRF over logits and an image, with learned parameters.

    The unary costs are ``-exponent logits``; a smoothness kernel (`mixfield.Gaussian`) and, with images, an appearance
    kernel (`mixfield.Bilateral`) couple all pairs of pixels.  Exponent, weights and bandwidths are positive: their
    logarithms are the parameters of the module.

    Parameters
    ----------
    n_labels : L.
    smooth_sxy, smooth_weight : first values of the smoothness kernel.
    sxy, srgb, weight : first values of the appearance kernel, for the intensities of the images as they are given.
    exponent : first value.
    compatibility : ``"potts"``, or ``"full"``: a learned symmetric (L, L) matrix of costs, which begins as Potts.
    normalization : of both kernels.
    updates : number of mean-field updates.
    gradient : ``"unrolled"``, through all updates, or ``"implicit"``, of the fixed point that they are taken to have
        reached; its memory does not grow with the number of updates.
    learn_bandwidths : whether bandwidths have gradients, by finite differences; two more filters for each of the three.
    spacing : size of a pixel along each axis, in the unit of ``sxy``.
    exact : sum over all pairs of pixels, in double precision for float64: for tests, on small images.

    Examples
    --------
    >>> import torch
    >>> from mixfield.torch import DenseCRF
    >>> layer = DenseCRF(3, updates=5)
    >>> logits = torch.zeros(2, 3, 8, 10, requires_grad=True)
    >>> log_q = layer(logits, torch.rand(2, 3, 8, 10) * 255)
    >>> log_q.shape, bool(torch.allclose(log_q.exp().sum(1), torch.ones(2, 8, 10)))
    (torch.Size([2, 3, 8, 10]), True)
    """

    def __init__(
        self,
        n_labels: int,
        *,
        smooth_sxy: float = 3.0,
        smooth_weight: float = 3.0,
        sxy: float = 67.0,
        srgb: float = 3.0,
        weight: float = 4.0,
        exponent: float = 1.0,
        compatibility: str = "potts",
        normalization: Normalization = "symmetric",
        updates: int = 10,
        gradient: Gradient = "unrolled",
        learn_bandwidths: bool = False,
        spacing: Sequence[float] | None = None,
        exact: bool = False,
    ) -> None:
        super().__init__()
        _arrays.at_least("n_labels", n_labels, 1)
        _arrays.at_least("updates", updates, 1)
        normalizations.check(normalization)
        if gradient not in get_args(Gradient):
            raise MixfieldError(f"gradient must be one of {', '.join(get_args(Gradient))}, got {gradient!r}")
        if compatibility not in ("potts", "full"):
            raise MixfieldError(f"compatibility must be 'potts' or 'full', got {compatibility!r}")
        steps = None if spacing is None else tuple(_arrays.positive("spacing", float(s)) for s in spacing)
        self.settings = Settings(n_labels, normalization, updates, gradient, exact, steps)
        self.log_exponent = nn.Parameter(_log("exponent", exponent)[0])
        self.log_weights = nn.Parameter(_log("weight", smooth_weight, weight))
        self.log_bandwidths = nn.Parameter(_log("bandwidth", smooth_sxy, sxy, srgb), requires_grad=learn_bandwidths)
        full = compatibility == "full"
        self.compatibility = nn.Parameter(-torch.eye(n_labels)) if full else None

    @property
    def exponent(self) -> torch.Tensor:
        """Of the probabilities."""
        return self.log_exponent.exp()

    @property
    def weights(self) -> torch.Tensor:
        """(2,) of the smoothness and the appearance kernel."""
        return self.log_weights.exp()

    @property
    def bandwidths(self) -> torch.Tensor:
        """(3,) ``smooth_sxy``, ``sxy`` and ``srgb``."""
        return self.log_bandwidths.exp()

    def extra_repr(self) -> str:
        """Settings and current values."""
        shown = ", ".join(f"{value:.4g}" for value in (self.exponent, *self.weights, *self.bandwidths))
        return f"{self.settings}, exponent, weights and bandwidths {shown}"

    def forward(self, logits: torch.Tensor, images: torch.Tensor | None = None) -> torch.Tensor:
        """Log-marginals of a batch.

        Parameters
        ----------
        logits : (B, L, H, W) or (B, L, D, H, W), float32 or float64.
        images : (B, channels, H, W) or (B, channels, D, H, W) intensities of any dtype; None for the smoothness kernel
            alone.

        Returns
        -------
        Tensor
            The shape and dtype of the logits.
        """
        arguments = self._arguments(logits, images)
        keep = torch.is_grad_enabled() and any(a is not None and a.requires_grad for a in arguments[1:])
        log_q: torch.Tensor = MeanField.apply(self.settings, keep, *arguments)
        return log_q.to(logits.device)

    def _arguments(self, logits: torch.Tensor, images: torch.Tensor | None) -> tuple[torch.Tensor | None, ...]:
        """Checked tensors on the CPU: images, logits and parameters."""
        check_logits(logits, self.settings.n_labels)
        if images is not None:
            check_images(images, logits)
            images = readable(images)
        spacing = self.settings.spacing
        if spacing is not None and len(spacing) != logits.ndim - 2:
            raise MixfieldError(
                f"spacing must have one number per axis of the images, {logits.ndim - 2}, got {len(spacing)}"
            )
        given = (images, logits, self.exponent, self.weights, self.bandwidths, self.compatibility)
        return tuple(None if tensor is None else on_cpu(tensor) for tensor in given)


def _log(name: str, *values: float) -> torch.Tensor:
    return torch.tensor([math.log(_arrays.positive(name, value)) for value in values])
