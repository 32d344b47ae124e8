"""Labels of Dask arrays as a Dask array: nothing is computed before it is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mixfield.errors import MixfieldError
from mixfield.large.axes import PixelArray, matched
from mixfield.large.block_evidence import ScoreOptions, block_evidence
from mixfield.large.block_field import FieldOptions, solve_block
from mixfield.large.block_work import segment_block
from mixfield.large.blocks import Block, block_size, blocks_of
from mixfield.large.sources import InMemory


def lazy_labels(
    image: Any,
    scores: Any,
    options: ScoreOptions,
    field: FieldOptions,
    block: int | Sequence[int] | None,
    halo: int | None,
) -> Any:
    """A Dask array of labels, one chunk per block; the parameters are those of `segment_large`."""
    dask_array = _dask_array(image, scores)
    from dask.delayed import delayed

    pixels, labels = matched(InMemory(image), InMemory(scores))
    if field.n_modes > 1:
        raise MixfieldError("n_modes must be 1 for Dask arrays without out: their labels have no room for questions")
    work = segment_block(pixels, labels, options, field, halo)
    size = block_size(block, pixels.shape)
    solve = delayed(_core_labels, pure=True)
    chunks = {
        part.index: dask_array.from_delayed(
            solve(_window(pixels, part), _window(labels, part), part, options, field, work.dtype, work.nodata),
            shape=[along.stop - along.start for along in part.core],
            dtype=work.dtype,
        )
        for part in blocks_of(pixels.shape, size, work.halo)
    }
    return dask_array.block(_nested(chunks, tuple(-(-n // step) for n, step in zip(pixels.shape, size, strict=True))))


def _dask_array(image: Any, scores: Any) -> Any:
    """The module ``dask.array``, if both are arrays of it."""
    try:
        import dask.array as module
    except ImportError:
        raise MixfieldError(
            "out must be given: labels as a Dask array need Dask: pip install 'mixfield[large]'"
        ) from None
    if not isinstance(image, module.Array) or not isinstance(scores, module.Array):
        raise MixfieldError("out must be given, unless image and scores are Dask arrays")
    return module


def _window(array: PixelArray, part: Block) -> Any:
    """The outer window of a block, channels last, as a Dask array."""
    source = array.source
    assert isinstance(source, InMemory)
    if array.channel_axis is None:
        return source.array[part.outer]
    axis = array.channel_axis
    window = source.array[(*part.outer[:axis], slice(None), *part.outer[axis:])]
    return window if axis == window.ndim - 1 else window.transpose(*(a for a in range(window.ndim) if a != axis), axis)


def _core_labels(
    image: NDArray[Any],
    scores: NDArray[Any],
    part: Block,
    options: ScoreOptions,
    field: FieldOptions,
    dtype: np.dtype[Any],
    nodata: int,
) -> NDArray[Any]:
    """On a worker: the labels of the core of a block."""
    picture = image if image.ndim > len(part.core) else image[..., None]
    evidence = block_evidence(picture, scores, None, options)
    return solve_block(evidence, part, part.core, field, dtype, nodata).labels


def _nested(chunks: dict[tuple[int, ...], Any], counts: tuple[int, ...], index: tuple[int, ...] = ()) -> Any:
    """Nested lists, as `dask.array.block` takes them."""
    if len(index) == len(counts):
        return chunks[index]
    return [_nested(chunks, counts, (*index, k)) for k in range(counts[len(index)])]
