"""Derivatives with respect to bandwidths: a central difference of kernels, not of the whole mean field.

The loss depends on a bandwidth s through ``K(s)`` alone, and its derivative with respect to the weight of any kernel,
at weight zero, comes with the backward pass (`AdjointUpdate`, probes).  So with kernels at ``s e^h`` and ``s e^-h``

    dLoss / dlog s  =  (dLoss / dweight[K(s e^h)] - dLoss / dweight[K(s e^-h)]) / 2 h + O(h^2)

costs two more filters per bandwidth.  The permutohedral lattice is only piecewise smooth in s: differences over a tenth
of s average over its cells.  On noisy images they are within 15 % of the derivative of the exact Gaussian, those over a
fiftieth of s are not within 30 %.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from mixfield.energy.coupling import Coupling, couple
from mixfield.energy.gaussian import Kernel

Floats = NDArray[np.float64]

STEP = 0.1  # h, of the logarithm of a bandwidth
EXACT_STEP = 1e-4  # the same for kernels of all pairs, which are smooth


@dataclass(frozen=True)
class BandwidthProbe:
    """Two probes of one bandwidth.

    Attributes
    ----------
    kernel : its number in the list of kernels.
    name : ``"sxy"`` or ``"srgb"``.
    couplings : of the larger and the smaller bandwidth.
    """

    kernel: int
    name: str
    couplings: tuple[Coupling, Coupling]


def bandwidth_probes(
    kernels: Sequence[Kernel],
    shape: tuple[int, ...],
    n_labels: int,
    *,
    potts: bool,
    exact: bool = False,
    step: float = STEP,
) -> list[BandwidthProbe]:
    """Probes for every bandwidth of `Gaussian` and `Bilateral` kernels on a field of ``shape``; see `couple`."""
    probes = []
    for m, kernel in enumerate(kernels):
        for name in bandwidths_of(kernel):
            width = np.asarray(vars(kernel)[name], np.float64)
            up, down = (
                couple(
                    replace(kernel, **{name: (width * np.exp(sign * step)).tolist()}),
                    shape,
                    n_labels,
                    potts=potts,
                    symmetric=True,
                    exact=exact,
                )
                for sign in (+1, -1)
            )
            probes.append(BandwidthProbe(m, name, (up, down)))
    return probes


def bandwidths_of(kernel: Kernel) -> tuple[str, ...]:
    """Names of the bandwidths of a kernel."""
    return tuple(name for name in ("sxy", "srgb") if name in vars(kernel))


def couplings_of(probes: Sequence[BandwidthProbe]) -> list[Coupling]:
    """The probes as `unrolled` and `implicit` take them."""
    return [coupling for probe in probes for coupling in probe.couplings]


def differences(probe_scales: Floats, step: float = STEP) -> Floats:
    """Derivatives with respect to the logarithm of each bandwidth, of ``FieldGradient.probe_scales``."""
    up, down = probe_scales.reshape(-1, 2).T
    return np.asarray((up - down) / (2 * step))
