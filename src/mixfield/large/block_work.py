"""The work on one block as an item of a batch."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mixfield.apps.blocks import Block, grown, halo_of
from mixfield.errors import MixfieldError
from mixfield.large.axes import PixelArray
from mixfield.large.block_evidence import (
    ScoreOptions,
    count_labels,
    read_evidence,
    read_mask,
    score_probabilities,
)
from mixfield.large.block_field import FieldOptions, solve_block
from mixfield.large.block_files import block_path, write_block
from mixfield.large.label_shares import window_sums

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SegmentBlock:
    """The work on one block: read its window, solve it, write the labels of its core.

    Attributes
    ----------
    image, scores : over the same pixels.
    score_options, field : how the field is made.
    halo : pixels around the core.
    dtype, nodata : of the labels.
    shares : (L,) of the labels in the whole image, if the field needs them.
    """

    image: PixelArray
    scores: PixelArray
    score_options: ScoreOptions
    field: FieldOptions
    halo: int
    dtype: np.dtype[Any]
    nodata: int
    shares: Floats | None = None

    def window_sums(self, block: Block) -> Floats:
        """(2, L) what the core of a block adds to the shares of the labels."""
        window, axes = block.core, len(self.image.shape)
        valid = read_mask(self.image, self.scores, window)
        return window_sums(score_probabilities(self.scores.read(window), axes, valid, self.score_options))

    def __call__(self, block: Block, folder: Path) -> dict[str, Any]:
        """An item of a batch; returns its facts."""
        evidence = read_evidence(self.image, self.scores, block.outer, self.score_options)
        reach = grown(block.core, self.halo // 2, self.image.shape)
        result = solve_block(evidence, block, reach, self.field, self.dtype, self.nodata, self.shares)
        write_block(block_path(folder, block.name), result)
        return {
            "log_z": result.log_z,
            "pixels": int((result.labels != self.nodata).sum()),
            "converged": result.converged,
            "alternatives": len(result.alternatives),
        }


def segment_block(
    image: PixelArray, scores: PixelArray, options: ScoreOptions, field: FieldOptions, halo: int | None
) -> SegmentBlock:
    """The work on a block of these arrays."""
    if len(image.shape) == 3 and field.n_modes > 1:
        raise MixfieldError(f"n_modes must be 1 for a volume, got {field.n_modes}")
    if halo is not None and halo < 0:
        raise MixfieldError(f"halo must not be negative, got {halo}")
    reach = halo_of(field.bandwidths) if halo is None else halo
    kind = np.uint8 if count_labels(scores, options) < 255 else np.uint16
    return SegmentBlock(image, scores, options, field, reach, np.dtype(kind), int(np.iinfo(kind).max))
