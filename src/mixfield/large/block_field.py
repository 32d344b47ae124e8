"""The field of one block: its mean field, its share of the bound, and its alternatives."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mixfield import _arrays
from mixfield.apps.blocks import Block, Window
from mixfield.apps.field_model import FLOOR, FieldModel, given_or_default
from mixfield.apps.kernels import Kernels
from mixfield.energy.dense_crf import DenseCRF
from mixfield.energy.unary import log_costs
from mixfield.errors import MixfieldWarning
from mixfield.large.block_alternatives import block_alternatives
from mixfield.large.block_evidence import BlockEvidence
from mixfield.large.regions import Alternative
from mixfield.mixture.posterior import MixturePosterior
from mixfield.mixture.tree import infer
from mixfield.solvers.dense_bound import pixel_bounds
from mixfield.solvers.mean_field import mean_field
from mixfield.solvers.mode import Mode
from mixfield.solvers.options import Solver

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class FieldOptions:
    """The field of every block, see `mixfield.segment`: kernels, or a model with kernels of its own."""

    n_modes: int = 1
    model: FieldModel | None = None
    kernels: Kernels | None = None
    rng: int = 0
    solver: Solver | None = None

    @staticmethod
    def of(
        n_modes: int, model: FieldModel | None, kernels: Kernels | None, rng: int, solver: Solver | None
    ) -> FieldOptions:
        """Checked options: the model that ships if neither a model nor kernels are given."""
        _arrays.at_least("n_modes", n_modes, 1)
        chosen = given_or_default(model, kernels)
        return FieldOptions(n_modes, None if isinstance(chosen, Kernels) else chosen, kernels, rng, solver)

    @property
    def needs_shares(self) -> bool:
        """Whether the field of a block depends on the shares of the labels in the whole image."""
        return self.model is not None and self.model.balance > 0

    @property
    def bandwidths(self) -> tuple[float, ...]:
        """In pixels, of all kernels."""
        model = self.model
        used = (self.kernels,) if model is None else (model.kernels, model.search if self.n_modes > 1 else None)
        return tuple(width for kernels in used if kernels is not None for width in (kernels.smooth_sxy, kernels.sxy))


@dataclass(frozen=True, eq=False)
class BlockResult:
    """What a block adds to the answer.

    Attributes
    ----------
    labels : (*core) most probable label of each pixel, ``nodata`` where there are none.
    log_z : sum of what the pixels of the core add to the bound A of the block's mean field.
    alternatives : changes of labels in and around the core, each with its probability.
    converged : whether the mean field is converged.
    """

    labels: NDArray[Any]
    log_z: float
    alternatives: tuple[Alternative, ...]
    converged: bool


def solve_block(
    evidence: BlockEvidence,
    block: Block,
    reach: Window,
    options: FieldOptions,
    dtype: np.dtype[Any],
    nodata: int,
    shares: Floats | None = None,
) -> BlockResult:
    """Solve the field of the outer window of a block.

    Parameters
    ----------
    evidence : of the outer window.
    reach : window around the core in which its alternatives are described.
    dtype, nodata : of the labels.
    shares : (L,) of the labels in the whole image, if ``options`` needs them.
    """
    core = block.inside(block.core)
    if not evidence.valid[core].any():
        return BlockResult(np.full(evidence.valid[core].shape, nodata, dtype), 0.0, (), True)
    energy = _energy(evidence, block.origin, options, shares)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MixfieldWarning)  # results carry the same facts
        posterior = _modes(evidence, energy, block.origin, options) if options.n_modes > 1 else None
        mode = mean_field(energy, solver=options.solver) if posterior is None else posterior.modes[posterior.root_mode]
    labels = np.where(evidence.valid, mode.labeling(), nodata).astype(dtype)
    found = () if posterior is None else block_alternatives(posterior, evidence, block, reach, options.model)
    return BlockResult(labels[core], _core_bound(energy, mode, evidence, core, options), found, mode.converged)


def _energy(evidence: BlockEvidence, origin: tuple[int, ...], options: FieldOptions, shares: Floats | None) -> DenseCRF:
    if options.model is not None:
        return options.model.energy(evidence.probs, evidence.picture, origin, shares)
    kernels = options.kernels or Kernels.deeplab()
    return DenseCRF(log_costs(evidence.probs, FLOOR), kernels.pairwise(evidence.picture, origin))


def _modes(
    evidence: BlockEvidence, energy: DenseCRF, origin: tuple[int, ...], options: FieldOptions
) -> MixturePosterior:
    how: dict[str, Any] = {"rng": options.rng, "solver": options.solver, "progress": False}
    model = options.model
    if model is None:
        return infer(energy, options.n_modes, **how)
    found = model.modes(evidence.probs, evidence.picture, options.n_modes, energy=energy, origin=origin, **how)
    return model.calibrate(found, evidence.probs, evidence.picture, options.n_modes)


def _core_bound(energy: DenseCRF, mode: Mode, evidence: BlockEvidence, core: Window, options: FieldOptions) -> float:
    """What the pixels of the core that have data add to the bound."""
    threads = None if options.solver is None else options.solver.threads
    q = mode.marginals.reshape(energy.n, energy.n_labels)
    shares = pixel_bounds(energy, q, threads).reshape(energy.shape)[core]
    return float(shares[evidence.valid[core]].sum())
