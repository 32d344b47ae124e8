"""Segment an image or a volume that does not fit in memory, block by block."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import Any

from mixfield import _progress, batch
from mixfield.apps.evidence import CERTAINTY, UNKNOWN
from mixfield.apps.field_model import FieldModel
from mixfield.apps.kernels import Kernels
from mixfield.errors import BatchError
from mixfield.large.block_evidence import ScoreOptions
from mixfield.large.block_field import FieldOptions
from mixfield.large.lazy import lazy_labels
from mixfield.large.run import large_run
from mixfield.solvers.options import Solver

StrPath = str | PathLike[str]


def segment_large(
    image: Any,
    scores: Any,
    out: StrPath | None = None,
    n_modes: int = 4,
    *,
    model: FieldModel | None = None,
    kernels: Kernels | None = None,
    logits: bool = False,
    certainty: float | None = None,
    unknown: Sequence[int] = UNKNOWN,
    n_labels: int | None = None,
    block: int | Sequence[int] | None = None,
    halo: int | None = None,
    engine: batch.Engine | None = None,
    rng: int = 0,
    solver: Solver | None = None,
    progress: _progress.Progress = None,
) -> Any:
    """Segment an image or a volume that does not fit in memory, in blocks with halos.

    Parameters
    ----------
    image : (H, W) or (H, W, channels), or a volume (D, H, W) or (D, H, W, channels): a path of a GeoTIFF, of a zarr
        array or OME-Zarr image, or of a ``.npy`` file, which is mapped into memory; or an array of NumPy, zarr or Dask.
    scores : (H, W, L) or (D, H, W, L) of the same kinds, as for `segment`, labels last or first; not resized.
    out : ``.tif``, ``.zarr`` or ``.npy`` file for the labels.  Without it, image and scores are Dask arrays, and the
        labels are returned as one that is not computed yet.
    n_modes : largest number of segmentations of a block.  With 1 there are no questions; volumes have one mode.
    model, kernels, logits, certainty, unknown, n_labels, rng, solver : as for `segment`; ``n_labels`` is needed for
        label maps.
    block : pixels of a block along each axis, multiples of 16; 1536 for images and 144 for volumes by default.
    halo : pixels around each block that are solved with it; three times the largest bandwidth by default.
    engine : `mixfield.batch.Serial` (default), `Processes` or `Dask`; all of them write the same bytes.
    progress : as for `infer`, called with the number of finished blocks.

    Returns
    -------
    LargeSegmentation
        Or a Dask array of labels (H, W) if ``out`` is not given.

    Notes
    -----
    The run may be killed at any moment: the same call goes on after the last finished block and writes the same bytes.
    ``log_z`` is ``sum_b sum_{i in core of b} a_i``, where a_i is what pixel i adds to the bound of the mean field of
    its block, ``a_i = 1/2 q_i (K q)_i - q_i U_i - q_i log q_i``.  For one block it is the bound of the mean field; for
    several it is its approximation, no bound.  Pixels without data (the mask of a GeoTIFF, scores that are NaN or all
    zero) have equal probabilities for their neighbours, and the label ``nodata``, the largest number of the dtype.
    A model with a ``balance`` needs the shares of the labels in the whole image, so that the scores are read twice.

    Examples
    --------
    >>> import numpy as np, tempfile, mixfield as mf
    >>> image = np.zeros((40, 64), np.uint8)
    >>> image[:, 32:] = 200
    >>> scores = np.where(np.arange(64)[:, None] < 32, [0.6, 0.4], [0.4, 0.6]) * np.ones((40, 1, 1))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     answer = mf.segment_large(image, scores, f"{folder}/labels.npy", n_modes=1, block=32, halo=16)
    ...     np.load(answer.out)[0, [0, 31, 32, 63]], answer.blocks
    (array([0, 0, 1, 1], dtype=uint8), 4)
    """
    options = ScoreOptions(logits, CERTAINTY if certainty is None else certainty, tuple(unknown), n_labels)
    field = FieldOptions.of(n_modes, model, kernels, rng, solver)
    if out is None:
        return lazy_labels(image, scores, options, field, block, halo)
    run = large_run(image, scores, out, options, field, block=block, halo=halo)
    with _progress.shown(progress, "blocks", len(run.blocks)) as advance:
        for done, outcome in enumerate(run.outcomes(engine), 1):
            if outcome.failure is not None:
                raise BatchError(f"block {outcome.name}: {outcome.failure}; finished blocks are kept")
            if advance is not None:
                advance(done)
    return run.finish()
