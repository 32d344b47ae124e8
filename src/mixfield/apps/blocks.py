"""Blocks of a large image: cores that partition it, each inside a window with a halo around it.

A mean field of Gaussian kernels forgets what is some bandwidths away.  The labels of a core are those of the whole
image up to what the halo leaves out, see `halo_of`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

from mixfield.errors import MixfieldError

Window = tuple[slice, ...]  # one interval of pixels per axis

STEP = 16  # pixels; blocks begin at multiples, so that the coarse grids of `CoarseGrid` of all blocks coincide
HALO_BANDWIDTHS = 3.0  # with 2 the bound is off by 1e-3: at the border of a window kernels are normalised otherwise
BLOCK_PIXELS = 1536**2  # of the core of a block, by default


@dataclass(frozen=True)
class Block:
    """One block.

    Attributes
    ----------
    index : of the block along each axis.
    core : the pixels whose labels it determines.
    outer : the pixels that it reads, the core with its halo.
    """

    index: tuple[int, ...]
    core: Window
    outer: Window

    @property
    def name(self) -> str:
        """The index as a text; the order of names is that of the indices."""
        return "_".join(f"{i:05d}" for i in self.index)

    @property
    def origin(self) -> tuple[int, ...]:
        """The first pixel of the outer window."""
        return tuple(along.start for along in self.outer)

    @property
    def shape(self) -> tuple[int, ...]:
        """Size of the outer window."""
        return tuple(along.stop - along.start for along in self.outer)

    def inside(self, window: Window) -> Window:
        """A window of the image in the coordinates of the outer window."""
        return relative(window, self.outer)


def blocks_of(shape: Sequence[int], size: Sequence[int], halo: int) -> list[Block]:
    """The blocks of an image of ``shape`` in row-major order, with cores of ``size`` pixels or less at the end."""
    cuts = [
        [slice(first, min(length, first + step)) for first in range(0, length, step)]
        for length, step in zip(shape, size, strict=True)
    ]
    return [
        Block(index, core, grown(core, halo, shape))
        for index, core in zip(product(*(range(len(cut)) for cut in cuts)), product(*cuts), strict=True)
    ]


def grown(window: Window, margin: int, shape: Sequence[int]) -> Window:
    """A window with a margin on all sides, inside an image of ``shape``."""
    pairs = zip(window, shape, strict=True)
    return tuple(slice(max(0, along.start - margin), min(length, along.stop + margin)) for along, length in pairs)


def relative(window: Window, outer: Window) -> Window:
    """A window of the image in the coordinates of another one around it."""
    pairs = zip(window, outer, strict=True)
    return tuple(slice(inner.start - along.start, inner.stop - along.start) for inner, along in pairs)


def intersection(window: Window, other: Window) -> Window | None:
    """The pixels of two windows, None if they share none."""
    pairs = list(zip(window, other, strict=True))
    common = tuple(slice(max(a.start, b.start), min(a.stop, b.stop)) for a, b in pairs)
    return common if all(along.start < along.stop for along in common) else None


def halo_of(bandwidths: Sequence[float]) -> int:
    """Pixels of the halo for kernels of these bandwidths: `HALO_BANDWIDTHS` times the largest."""
    return _rounded(HALO_BANDWIDTHS * max(bandwidths, default=0.0))


def block_size(block: int | Sequence[int] | None, shape: Sequence[int]) -> tuple[int, ...]:
    """The size of the cores along each axis; a number is that of every axis.

    By default cores are squares or cubes of about `BLOCK_PIXELS` pixels.
    """
    axes = len(shape)
    if block is None:
        block = _rounded(BLOCK_PIXELS ** (1 / axes))
    sizes = (block,) * axes if isinstance(block, int) else tuple(block)
    if len(sizes) != axes or any(size <= 0 or size % STEP for size in sizes):
        raise MixfieldError(
            f"block must be one number or {axes}, positive multiples of {STEP} pixels, got {block!r}; "
            f"try {max(STEP, _rounded(max(sizes, default=STEP)))}"
        )
    return sizes


def _rounded(pixels: float) -> int:
    """The next multiple of `STEP`."""
    return STEP * math.ceil(pixels / STEP - 1e-9)
