"""Labels of a large image as a file, ``.tif``, ``.zarr`` or ``.npy``, that appears at its path when it is complete."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mixfield import _files
from mixfield.apps.blocks import Block
from mixfield.errors import MixfieldError
from mixfield.large.geotiff import Georeference, tile_size, write_geotiff
from mixfield.large.zarr_files import chunk_size, write_zarr

SUFFIXES = (".tif", ".tiff", ".zarr", ".npy")

LabelsOf = Callable[[Block], NDArray[Any]]


@dataclass(frozen=True)
class LabelFile:
    """What is written.

    Attributes
    ----------
    shape : of the image.
    size : of the blocks.
    dtype, nodata : of the labels, and the value of pixels without data.
    place : of a GeoTIFF.
    ome : write an image of OME-Zarr rather than a plain array.
    """

    shape: tuple[int, ...]
    size: tuple[int, ...]
    dtype: np.dtype[Any]
    nodata: int
    place: Georeference
    ome: bool

    def write(self, path: Path, blocks: Sequence[Block], labels_of: LabelsOf) -> None:
        """Write the labels of all blocks, in row-major order; the file appears at its path complete."""
        with _replaced(path) as draft:
            if path.suffix == ".npy":
                self._write_npy(draft, blocks, labels_of)
            elif path.suffix == ".zarr":
                self._write_zarr(draft, blocks, labels_of)
            else:
                self._write_geotiff(draft, blocks, labels_of)

    def _write_npy(self, path: Path, blocks: Sequence[Block], labels_of: LabelsOf) -> None:
        array = np.lib.format.open_memmap(path, "w+", dtype=self.dtype, shape=self.shape)
        for block in blocks:
            array[block.core] = labels_of(block)
        array.flush()

    def _write_zarr(self, path: Path, blocks: Sequence[Block], labels_of: LabelsOf) -> None:
        levels = ((block.core, labels_of(block)) for block in blocks)
        write_zarr(path, levels, self.shape, self.dtype, nodata=self.nodata, chunk=chunk_size(self.size), ome=self.ome)

    def _write_geotiff(self, path: Path, blocks: Sequence[Block], labels_of: LabelsOf) -> None:
        height, width = self.shape
        rows = groupby(blocks, key=lambda block: block.index[0])  # a row of blocks at a time: no tile is written twice
        strips = (np.concatenate([labels_of(block) for block in row], axis=1) for _, row in rows)
        write_geotiff(
            path,
            strips,
            (height, width),
            self.dtype,
            nodata=self.nodata,
            place=self.place,
            tile=tile_size(self.size[0]),
        )


def check_path(path: Path, axes: int) -> None:
    """Raise a `MixfieldError` for a path that labels cannot be written to."""
    if path.suffix.lower() not in SUFFIXES:
        raise MixfieldError(f"out must be {', '.join(SUFFIXES)}, got {path.name}")
    if path.suffix.lower() in (".tif", ".tiff") and axes != 2:
        raise MixfieldError(f"out must be .zarr or .npy for a volume, got {path.name}")
    if not path.parent.is_dir():
        raise MixfieldError(f"out: the folder {path.parent} does not exist")
    _files.check_writable(path.parent)


@contextmanager
def _replaced(path: Path) -> Iterator[Path]:
    """A temporary path that replaces a file or a folder at the end of the block, and is removed if the block raises."""
    draft = path.with_name(f".{secrets.token_hex(8)}.draft{path.suffix}")
    try:
        yield draft
        if path.is_dir():  # a folder is not replaced in one step: for a moment there is none
            shutil.rmtree(path)
        os.replace(draft, path)
    finally:
        if draft.is_dir():
            shutil.rmtree(draft, ignore_errors=True)
        else:
            draft.unlink(missing_ok=True)
