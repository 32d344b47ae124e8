"""One mode of an image whose whole field would take many gigabytes: the mean fields of its blocks, joined.

Blocks, halos and labels are those of one mode of ``mixfield.segment_large(..., block=1024)``; only the marginals are
kept for all pixels.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from mixfield import _arrays
from mixfield._progress import Progress, shown
from mixfield.apps.blocks import Block, block_size, blocks_of, halo_of
from mixfield.apps.field_model import FLOOR, FieldModel, label_shares
from mixfield.apps.kernels import Kernels
from mixfield.energy.active_labels import zero_planes
from mixfield.energy.dense_crf import DenseCRF
from mixfield.energy.unary import log_costs
from mixfield.errors import NotConvergedWarning
from mixfield.mixture.node import Node
from mixfield.mixture.posterior import MixturePosterior
from mixfield.solvers.dense_bound import pixel_bounds
from mixfield.solvers.dispatch import solver_for
from mixfield.solvers.mean_field import mean_field, warn_if_doubtful
from mixfield.solvers.mode import Mode
from mixfield.solvers.options import Solver

Float32s = NDArray[np.float32]

BLOCK = 1024  # pixels along an axis; with 21 labels larger blocks are slower, because they wait for their last pixels
LARGEST_WHOLE = 1 << 27  # marginals (H W L) of an image that is solved as a whole, in about 4 GB


def segment_blockwise(
    probs: Float32s,
    picture: Float32s,
    field: Kernels | FieldModel,
    *,
    solver: Solver | None = None,
    progress: Progress = None,
) -> MixturePosterior:
    """The mean field of an image, block by block.

    Parameters
    ----------
    probs, picture : (H, W, L) probabilities and (H, W, channels) intensities.
    field : its kernels, or a model by which it is made; the answer of a model is calibrated.
    solver : of the field of every block.
    progress : as for `infer`, called with the number of finished blocks.

    Returns
    -------
    MixturePosterior
        One mode.  Its ``log_z`` is ``sum_b sum_{i in core of b} a_i``, where a_i is what pixel i adds to the bound of
        its block; for several blocks, it approximates the bound of the whole, as a note says.
    """
    *shape, n_labels = probs.shape
    kernels, energy_of = _field_of(field, probs, picture)
    halo = halo_of(() if kernels is None else (kernels.smooth_sxy, kernels.sxy))
    blocks = blocks_of(shape, block_size(BLOCK, shape), halo)
    marginals = zero_planes(n_labels, tuple(shape), np.dtype(np.float32))
    facts: list[tuple[float, bool, int]] = []
    with shown(progress, "blocks", len(blocks)) as advance:
        for done, block in enumerate(blocks, 1):
            facts.append(_solve_block(block, energy_of(block), solver, marginals))
            if advance is not None:
                advance(done)
    bounds, converged, iterations = zip(*facts, strict=True)
    mode = Mode(_arrays.frozen(marginals), sum(bounds), converged=all(converged), iterations=max(iterations))
    warn_if_doubtful([mode])
    note = (
        f"solved in {len(blocks)} blocks with halos of {halo} pixels: log_z is the sum of what their pixels add to the "
        "bounds of the blocks, which approximates that of the whole image"
    )
    # Gamma / 2, see `DenseCRF.critical_temperature`
    t_max = 0.0 if kernels is None else (kernels.smooth_weight + kernels.weight) / 2
    root = Node(-1, None, float("nan"), mode.log_z, 0)
    found = MixturePosterior((mode,), (root,), t_max, (note,) if len(blocks) > 1 else ())
    if isinstance(field, Kernels):
        return found
    return field.calibrate(found, probs, picture, 1)


def _field_of(
    field: Kernels | FieldModel, probs: Float32s, picture: Float32s
) -> tuple[Kernels | None, Callable[[Block], DenseCRF]]:
    """The kernels of a field, and the field of the outer window of a block."""
    if isinstance(field, Kernels):
        return field, lambda block: DenseCRF(
            log_costs(probs[block.outer], FLOOR), field.pairwise(picture[block.outer], block.origin)
        )
    shares = label_shares(probs) if field.balance else None
    return field.kernels, lambda block: field.energy(probs[block.outer], picture[block.outer], block.origin, shares)


def _solve_block(block: Block, crf: DenseCRF, solver: Solver | None, marginals: Float32s) -> tuple[float, bool, int]:
    """Write the marginals (H, W, L) of the core of a block.

    Returns what its pixels add to the bound, whether the mean field is converged, and its updates.
    """
    core = block.inside(block.core)
    crf, labels = _with_active_labels(crf, solver)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConvergedWarning)  # said once, of all blocks
        mode = mean_field(crf, solver=solver)
    out = marginals[block.core]
    for place, label in enumerate(labels):  # the others take no memory
        out[..., label] = mode.marginals[core][..., place]
    threads = None if solver is None else solver.threads
    bounds = pixel_bounds(crf, mode.marginals.reshape(crf.n, -1), threads).reshape(crf.shape)
    return float(bounds[core].sum()), mode.converged, mode.iterations


def _with_active_labels(crf: DenseCRF, solver: Solver | None) -> tuple[DenseCRF, NDArray[np.int64]]:
    """The field of the labels that matter, and these; the costs of the others can be freed."""
    reduced, labels = solver_for(crf, solver).reduced()
    return reduced.energy, np.arange(crf.n_labels) if labels is None else labels
