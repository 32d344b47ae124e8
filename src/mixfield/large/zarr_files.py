"""Arrays of zarr and images of OME-Zarr: windows of them, and labels in the same form."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mixfield.apps.blocks import Window
from mixfield.errors import FileFormatError, MixfieldError

CHUNK = 512  # pixels along an axis of an image, at most; 64 in volumes
VOLUME_CHUNK = 64
SMALLEST_LEVEL = 256  # pixels of the longest axis of the last level of OME-Zarr
OME_VERSION = "0.5"

Parts = Iterable[tuple[Window, NDArray[Any]]]


def zarr() -> ModuleType:
    """The module, or a `MixfieldError` that names the extra to install."""
    try:
        import zarr
    except ImportError:
        raise MixfieldError("zarr arrays are read and written by zarr: pip install 'mixfield[large]'") from None
    return zarr


@dataclass(frozen=True)
class ZarrArray:
    """An array of a zarr store.

    Attributes
    ----------
    path, key : the store, and the array in it; an empty key for a store that is an array.
    shape, dtype : of the array, without the axes of length one that ``kept`` leaves out.
    kept : axes of the stored array that are kept: OME-Zarr has times and depths of length one.
    channel_axis : among the axes that are kept, where the metadata of OME-Zarr say it.
    is_ome : whether it is an image of OME-Zarr.
    """

    path: Path
    key: str
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    kept: tuple[int, ...]
    channel_axis: int | None = None
    is_ome: bool = False

    @property
    def identity(self) -> str:
        return f"{self.path.name}/{self.key}"

    @property
    def files(self) -> tuple[Path, ...]:
        return (self.path,)

    def read(self, window: Window) -> NDArray[Any]:
        array = zarr().open_array(self.path, path=self.key or None, mode="r")
        every = [slice(0, 1)] * array.ndim
        for axis, along in zip(self.kept, window, strict=True):
            every[axis] = along
        shape = [along.stop - along.start for along in window]
        return np.asarray(array[tuple(every)]).reshape(shape)

    def mask(self, window: Window) -> None:  # noqa: ARG002
        return None


def open_zarr(path: Path) -> ZarrArray:
    """The array of a store: the store itself, the largest level of OME-Zarr, or the only array of a group."""
    library = zarr()
    try:
        node = library.open(path, mode="r")
    except (ValueError, KeyError, TypeError, OSError) as error:
        raise FileFormatError(f"{path} is no zarr store that can be read: {error}") from None
    if isinstance(node, library.Array):
        return ZarrArray(path, "", node.shape, np.dtype(node.dtype), tuple(range(node.ndim)))
    attributes = dict(node.attrs)
    scales = dict(attributes.get("ome", attributes)).get("multiscales")
    if scales:
        return _image(path, node, scales[0])
    keys = sorted(node.array_keys())
    if len(keys) != 1:
        raise FileFormatError(f"{path} must be an array, an image of OME-Zarr or a group of one array, got {keys}")
    return _array(path, keys[0], node[keys[0]], None)


def _image(path: Path, node: Any, scale: Mapping[str, Any]) -> ZarrArray:
    try:
        names = [axis["name"] if isinstance(axis, Mapping) else str(axis) for axis in scale["axes"]]
        key = str(scale["datasets"][0]["path"])
        return _array(path, key, node[key], names)
    except (KeyError, IndexError, TypeError) as error:
        raise FileFormatError(f"{path} has no valid multiscales of OME-Zarr: {error!r} is missing") from None


def _array(path: Path, key: str, array: Any, names: list[str] | None) -> ZarrArray:
    dtype = np.dtype(array.dtype)
    if names is None:
        return ZarrArray(path, key, array.shape, dtype, tuple(range(array.ndim)))
    if "t" in names and array.shape[names.index("t")] != 1:
        raise FileFormatError(f"{path} has {array.shape[names.index('t')]} times; save one of them")
    kept = tuple(a for a, name in enumerate(names) if name != "t" and not (name == "z" and array.shape[a] == 1))
    channel = [names[axis] for axis in kept].index("c") if "c" in names else None
    shape = tuple(array.shape[axis] for axis in kept)
    return ZarrArray(path, key, shape, dtype, kept, channel, is_ome=True)


def write_zarr(
    path: Path,
    parts: Parts,
    shape: tuple[int, ...],
    dtype: np.dtype[Any],
    *,
    nodata: int,
    chunk: Sequence[int],
    ome: bool,
) -> None:
    """Write labels as a zarr array, or as an image of OME-Zarr with levels of half the size each.

    Parameters
    ----------
    parts : windows that partition the image, aligned with the chunks, and their labels.
    chunk : size of the chunks.
    """
    library = zarr()
    attributes = {"nodata": nodata}
    if not ome:
        _write_level(library, path, parts, shape, dtype, nodata, chunk).attrs.update(attributes)
        return
    group = library.create_group(path, overwrite=True)
    array = _write_level(library, path / "0", parts, shape, dtype, nodata, chunk)
    count = 1
    while max(array.shape) > SMALLEST_LEVEL:
        array, count = _half(library, path / str(count), array, dtype, nodata, chunk), count + 1
    group.attrs.update(attributes | {"ome": _metadata(len(shape), count)})


def chunk_size(block: Sequence[int]) -> tuple[int, ...]:
    """Chunks that divide the blocks."""
    largest = CHUNK if len(block) == 2 else VOLUME_CHUNK
    return tuple(max(size for size in range(16, min(largest, step) + 1, 16) if step % size == 0) for step in block)


def _write_level(
    library: ModuleType,
    path: Path,
    parts: Parts,
    shape: tuple[int, ...],
    dtype: np.dtype[Any],
    nodata: int,
    chunk: Sequence[int],
) -> Any:
    array = library.create_array(path, shape=shape, chunks=tuple(chunk), dtype=dtype, fill_value=nodata, overwrite=True)
    for window, labels in parts:
        array[window] = labels
    return array


def _half(library: ModuleType, path: Path, array: Any, dtype: np.dtype[Any], nodata: int, chunk: Sequence[int]) -> Any:
    """Every second pixel of a level."""
    shape = tuple(-(-length // 2) for length in array.shape)
    half = library.create_array(path, shape=shape, chunks=tuple(chunk), dtype=dtype, fill_value=nodata)
    step = chunk[0]
    for first in range(0, shape[0], step):
        rows = array[2 * first : 2 * (first + step)]
        half[first : first + step] = rows[(slice(None, None, 2),) * len(shape)]
    return half


def _metadata(axes: int, levels: int) -> dict[str, Any]:
    names = ("z", "y", "x")[-axes:]
    datasets = [
        {"path": str(k), "coordinateTransformations": [{"type": "scale", "scale": [2.0**k] * axes}]}
        for k in range(levels)
    ]
    scale = {"name": "labels", "axes": [{"name": name, "type": "space"} for name in names], "datasets": datasets}
    return {"version": OME_VERSION, "multiscales": [scale], "image-label": {}}
