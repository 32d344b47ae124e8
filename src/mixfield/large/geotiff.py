"""GeoTIFF by rasterio: windows of a file, its position on the earth, and labels with overviews."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mixfield.apps.blocks import Window
from mixfield.errors import FileFormatError, MixfieldError

TILE = 256  # pixels of a tile of the file, at most
SMALLEST_OVERVIEW = 256  # pixels of the longer side


def rasterio() -> ModuleType:
    """The module, or a `MixfieldError` that names the extra to install."""
    try:
        import rasterio
    except ImportError:
        raise MixfieldError("GeoTIFF is read and written by rasterio: pip install 'mixfield[large]'") from None
    return rasterio


@dataclass(frozen=True)
class Georeference:
    """Where an image lies on the earth.

    Attributes
    ----------
    crs : coordinate reference system as WKT; empty if unknown.
    transform : six coefficients from (column, row) to coordinates, as in rasterio.
    """

    crs: str = ""
    transform: tuple[float, ...] = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0)

    def position(self, column: float, row: float) -> tuple[float, float]:
        """Coordinates (x, y) of a corner of a pixel."""
        a, b, c, d, e, f = self.transform
        return a * column + b * row + c, d * column + e * row + f


@dataclass(frozen=True)
class Raster:
    """A GeoTIFF, bands first.

    Attributes
    ----------
    path, shape, dtype : of the file; (bands, H, W).
    place : on the earth.
    """

    path: Path
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    place: Georeference
    channel_axis: int | None = 0

    @staticmethod
    def open(path: Path) -> Raster:
        """The raster of a file."""
        with _opened(path) as file:
            crs = "" if file.crs is None else file.crs.to_wkt()
            place = Georeference(crs, tuple(file.transform)[:6])
            return Raster(path, (file.count, file.height, file.width), np.dtype(file.dtypes[0]), place)

    @property
    def identity(self) -> str:
        return self.path.name

    @property
    def files(self) -> tuple[Path, ...]:
        return (self.path,)

    def read(self, window: Window) -> NDArray[Any]:
        bands, rows, columns = window
        numbers = [band + 1 for band in range(self.shape[0])[bands]]
        with _opened(self.path) as file:
            pixels: NDArray[Any] = file.read(numbers, window=_window(rows, columns))
        return pixels

    def mask(self, window: Window) -> NDArray[np.bool_]:
        """Pixels with data, by the nodata value, alpha or mask of the file."""
        with _opened(self.path) as file:
            return np.asarray(file.dataset_mask(window=_window(*window)) > 0)


def write_geotiff(
    path: Path,
    strips: Iterable[NDArray[Any]],
    shape: tuple[int, int],
    dtype: np.dtype[Any],
    *,
    nodata: int,
    place: Georeference,
    tile: int,
) -> None:
    """Write labels (H, W) with overviews.

    Parameters
    ----------
    strips : labels (h, W) of some rows after the other, from top to bottom.
    nodata : value of pixels without data.
    tile : a divisor of the heights of all strips but the last, so that no tile is written twice.
    """
    library = rasterio()
    height, width = shape
    options = {
        "driver": "GTiff", "height": height, "width": width, "count": 1, "dtype": dtype.name, "nodata": nodata,
        "compress": "deflate", "predictor": 2, "tiled": True, "blockxsize": tile, "blockysize": tile,
        "bigtiff": "IF_SAFER", "transform": library.Affine(*place.transform),
    }  # fmt: skip
    if place.crs:
        options["crs"] = library.crs.CRS.from_wkt(place.crs)
    with _without_warning(library), library.open(path, "w", **options) as file:
        first = 0
        for rows in strips:
            file.write(rows, 1, window=_window(slice(first, first + len(rows)), slice(0, width)))
            first += len(rows)
        factors = overview_factors(shape)
        if factors:
            file.build_overviews(factors, library.enums.Resampling.nearest)


def overview_factors(shape: tuple[int, int]) -> list[int]:
    """Powers of two down to an overview of `SMALLEST_OVERVIEW` pixels."""
    factors, factor = [], 2
    while max(shape) / factor >= SMALLEST_OVERVIEW:
        factors.append(factor)
        factor *= 2
    return factors


def tile_size(step: int) -> int:
    """The largest tile, a multiple of 16 up to `TILE`, that divides ``step`` rows."""
    return max(size for size in range(16, TILE + 1, 16) if step % size == 0)


def _window(rows: slice, columns: slice) -> Any:
    from rasterio.windows import Window as RasterWindow

    return RasterWindow(columns.start, rows.start, columns.stop - columns.start, rows.stop - rows.start)


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    """A file to read; a `FileFormatError` names it, where GDAL only says what went wrong."""
    library = rasterio()
    try:
        with _without_warning(library):
            file = library.open(path)
        with file:
            yield file
    except library.errors.RasterioIOError as error:
        raise FileFormatError(f"{path} is no GeoTIFF that can be read: {error.__cause__ or error}") from None


@contextmanager
def _without_warning(library: ModuleType) -> Iterator[None]:
    """Images that lie nowhere on the earth are as good as others."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", library.errors.NotGeoreferencedWarning)
        yield
