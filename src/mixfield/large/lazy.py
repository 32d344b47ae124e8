"""Labels of Dask arrays as a Dask array: nothing is computed before it is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mixfield.apps.blocks import Block, Window, block_size, blocks_of
from mixfield.errors import MixfieldError
from mixfield.large.axes import PixelArray, matched
from mixfield.large.block_evidence import ScoreOptions, block_evidence, score_probabilities
from mixfield.large.block_field import FieldOptions, solve_block
from mixfield.large.block_work import segment_block
from mixfield.large.label_shares import joined_shares, window_sums
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
    parts = blocks_of(pixels.shape, size, work.halo)
    shares = None
    if field.needs_shares:
        sums = [delayed(_core_sums, pure=True)(_window(labels, part.core), len(part.core), options) for part in parts]
        shares = delayed(joined_shares, pure=True)(sums)

    def outer(part: Block) -> tuple[Any, Any]:
        return _window(pixels, part.outer), _window(labels, part.outer)

    chunks = {
        part.index: dask_array.from_delayed(
            solve(*outer(part), part, options, field, work.dtype, work.nodata, shares),
            shape=[along.stop - along.start for along in part.core],
            dtype=work.dtype,
        )
        for part in parts
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


def _window(array: PixelArray, place: Window) -> Any:
    """A window of an array, channels last, as a Dask array."""
    source = array.source
    assert isinstance(source, InMemory)
    if array.channel_axis is None:
        return source.array[place]
    axis = array.channel_axis
    window = source.array[(*place[:axis], slice(None), *place[axis:])]
    return window if axis == window.ndim - 1 else window.transpose(*(a for a in range(window.ndim) if a != axis), axis)


def _core_labels(
    image: NDArray[Any],
    scores: NDArray[Any],
    part: Block,
    options: ScoreOptions,
    field: FieldOptions,
    dtype: np.dtype[Any],
    nodata: int,
    shares: NDArray[np.float64] | None,
) -> NDArray[Any]:
    """On a worker: the labels of the core of a block."""
    picture = image if image.ndim > len(part.core) else image[..., None]
    evidence = block_evidence(picture, scores, None, options)
    return solve_block(evidence, part, part.core, field, dtype, nodata, shares).labels


def _core_sums(scores: NDArray[Any], axes: int, options: ScoreOptions) -> NDArray[np.float64]:
    """On a worker: what the core of a block adds to the shares of the labels."""
    return window_sums(score_probabilities(scores, axes, None, options))


def _nested(chunks: dict[tuple[int, ...], Any], counts: tuple[int, ...], index: tuple[int, ...] = ()) -> Any:
    """Nested lists, as `dask.array.block` takes them."""
    if len(index) == len(counts):
        return chunks[index]
    return [_nested(chunks, counts, (*index, k)) for k in range(counts[len(index)])]
