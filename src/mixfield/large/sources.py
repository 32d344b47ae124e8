"""Arrays that are read by windows: in memory, ``.npy``, zarr, GeoTIFF, Dask."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from mixfield import _files
from mixfield.apps.blocks import Window
from mixfield.errors import FileFormatError, MixfieldError

SAMPLES = 1 << 16  # numbers of an array in memory that its digest reads, about


class Source(Protocol):
    """A large array; workers get a pickled copy, so files are opened where they are read."""

    @property
    def shape(self) -> tuple[int, ...]: ...

    @property
    def dtype(self) -> np.dtype[Any]: ...

    @property
    def channel_axis(self) -> int | None:
        """The axis of channels or labels where the file says it, else None."""

    @property
    def identity(self) -> Any:
        """An identifier of its content, as JSON: a path, or a digest."""

    @property
    def files(self) -> tuple[Path, ...]:
        """Files whose change makes results stale."""

    def read(self, window: Window) -> NDArray[Any]:
        """The numbers of a window, one interval per axis."""

    def mask(self, window: Window) -> NDArray[np.bool_] | None:
        """Pixels of a window (over the axes without channels) that have data; None for all."""


@dataclass(frozen=True, eq=False)
class InMemory:
    """An object with ``shape``, ``dtype`` and slicing: an array of NumPy, zarr, h5py or Dask."""

    array: Any
    channel_axis: int | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(int(length) for length in self.array.shape)

    @property
    def dtype(self) -> np.dtype[Any]:
        return np.dtype(self.array.dtype)

    @property
    def identity(self) -> list[Any]:
        """Shape, type and the digest of a sample."""
        step = max(1, round((self.array.size / SAMPLES) ** (1 / max(1, len(self.shape)))))
        sample = np.ascontiguousarray(self.array[(slice(None, None, step),) * len(self.shape)])
        return [list(self.shape), self.dtype.str, hashlib.sha256(sample.tobytes()).hexdigest()]

    @property
    def files(self) -> tuple[Path, ...]:
        return ()

    def read(self, window: Window) -> NDArray[Any]:
        return np.asarray(self.array[window])

    def mask(self, window: Window) -> None:  # noqa: ARG002
        return None


@dataclass(frozen=True)
class NpyFile:
    """A ``.npy`` file, mapped into memory while a window is read."""

    path: Path
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    channel_axis: int | None = None

    @staticmethod
    def open(path: Path) -> NpyFile:
        """The array of a file."""
        array = _mapped(path)
        return NpyFile(path, array.shape, array.dtype)

    @property
    def identity(self) -> str:
        return self.path.name

    @property
    def files(self) -> tuple[Path, ...]:
        return (self.path,)

    def read(self, window: Window) -> NDArray[Any]:
        return np.array(_mapped(self.path)[window])

    def mask(self, window: Window) -> None:  # noqa: ARG002
        return None


def open_source(name: str, value: Any) -> Source:
    """The source of an argument: a path, or an object with ``shape``, ``dtype`` and slicing."""
    if not isinstance(value, str | PathLike):
        array = value if hasattr(value, "shape") and hasattr(value, "dtype") else np.asarray(value)
        return InMemory(array)
    path = Path(value).absolute()
    if not path.exists():
        raise FileNotFoundError(f"{path} does not exist")
    suffix = path.suffix.lower()
    if suffix == ".npy":
        return NpyFile.open(path)
    if suffix in (".tif", ".tiff"):
        from mixfield.large.geotiff import Raster

        return Raster.open(path)
    if suffix == ".zarr" or path.is_dir():
        from mixfield.large.zarr_files import open_zarr

        return open_zarr(path)
    return _picture(name, path)


def _picture(name: str, path: Path) -> InMemory:
    """An image in a format that cannot be read by windows."""
    from mixfield.io.images import SUFFIXES, read_image

    if path.suffix.lower() not in SUFFIXES:
        raise MixfieldError(f"{name} must be .tif, .zarr, .npy or an image, got {path.name}")
    return InMemory(read_image(path))


def _mapped(path: Path) -> NDArray[Any]:
    _files.check_file(path)
    try:
        return np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, EOFError, OSError) as error:
        raise FileFormatError(f"{path} is no array that can be mapped into memory: {error}") from None
