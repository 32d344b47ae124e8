"""The alternatives of one block: connected regions that some mode labels otherwise than the root mode."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from mixfield.apps.blocks import Block, Window
from mixfield.apps.change_features import Unchanged
from mixfield.apps.field_model import FieldModel
from mixfield.large.block_evidence import BlockEvidence
from mixfield.large.regions import Alternative
from mixfield.mixture.posterior import MixturePosterior

Bools = NDArray[np.bool_]

SMALLEST_SHARE = 1e-4  # of the pixels of a block; smaller components of a change are left out
LEAST_USEFUL = 0.02  # probability times square root of the share of a block; less is not worth a question


def block_alternatives(
    posterior: MixturePosterior, evidence: BlockEvidence, block: Block, reach: Window, model: FieldModel | None
) -> tuple[Alternative, ...]:
    """The regions of all modes that touch the core of a block.

    Parameters
    ----------
    posterior : over the outer window of the block.
    evidence : of the outer window.
    reach : window of the image in which regions are described.
    model : gives each region its probability by the evidence inside it, and leaves out those that are hardly useful;
        without one it is that of its mode, by the bounds of the two.
    """
    root = posterior.modes[posterior.root_mode]
    before, core = root.labeling(), block.inside(block.core)
    near, unchanged = block.inside(reach), Unchanged(evidence.probs, before, evidence.picture)
    found = []
    for mode in posterior.modes:
        after = mode.labeling()
        for region in _components((after != before) & evidence.valid):
            if not region[core].any():
                continue
            probability = _by_bounds(root.log_z - mode.log_z)
            if model is not None:
                features = unchanged.change(np.where(region, after, before))
                probability = model.answer.probability(features)
                if probability * np.exp(features.log_share / 2) < LEAST_USEFUL:
                    continue
            found.append(Alternative.of(region[near], before[near], after[near], reach, block.core, probability))
    return tuple(found)


def _components(changed: Bools) -> Iterator[Bools]:
    """The connected components that are not too small, the largest first."""
    numbers, count = ndimage.label(changed)
    sizes = np.bincount(numbers.ravel(), minlength=count + 1)[1:]
    for k in np.argsort(-sizes, kind="stable"):
        if sizes[k] < SMALLEST_SHARE * changed.size:
            return
        yield numbers == k + 1


def _by_bounds(difference: float) -> float:
    """The weight of a mode against the root mode alone, whose bound is higher by ``difference``."""
    return float(1 / (1 + np.exp(np.clip(difference, -700, 700))))
