"""GeoTIFF: windows, masks, and labels that keep reference system, nodata and overviews."""

from __future__ import annotations

import builtins
import sys

import numpy as np
import pytest

from mixfield.errors import FileFormatError, MixfieldError
from mixfield.large import geotiff
from mixfield.large.geotiff import Georeference, Raster, overview_factors, tile_size, write_geotiff

rasterio = pytest.importorskip("rasterio")


@pytest.fixture
def raster(tmp_path):
    pixels = np.random.default_rng(0).integers(1, 255, (3, 40, 50), np.uint8)
    pixels[:, :5] = 0
    options = {"driver": "GTiff", "height": 40, "width": 50, "count": 3, "dtype": "uint8", "nodata": 0}
    place = rasterio.Affine(0.5, 0, 500000, 0, -0.5, 5e6)
    with rasterio.open(tmp_path / "a.tif", "w", crs="EPSG:32632", transform=place, **options) as file:
        file.write(pixels)
    return Raster.open(tmp_path / "a.tif"), pixels


def test_windows_bands_first(raster):
    source, pixels = raster
    window = (slice(0, 3), slice(4, 20), slice(7, 9))
    assert source.shape == (3, 40, 50)
    np.testing.assert_array_equal(source.read(window), pixels[window])


def test_pixels_without_data(raster):
    mask = raster[0].mask((slice(0, 10), slice(0, 50)))
    np.testing.assert_array_equal(mask, np.arange(10)[:, None].repeat(50, 1) >= 5)


def test_positions_on_the_earth(raster):
    assert raster[0].place.position(2, 4) == (500001.0, 4999998.0)


def test_labels_keep_reference_system_nodata_and_overviews(raster, tmp_path):
    labels = np.random.default_rng(1).integers(0, 4, (600, 700), np.uint8)
    strips = (labels[first : first + 256] for first in range(0, 600, 256))
    place = raster[0].place
    write_geotiff(tmp_path / "b.tif", strips, (600, 700), np.dtype(np.uint8), nodata=255, place=place, tile=256)
    with rasterio.open(tmp_path / "b.tif") as file:
        np.testing.assert_array_equal(file.read(1), labels)
        assert (file.nodata, file.crs.to_epsg(), file.overviews(1)) == (255, 32632, [2])
        assert file.transform == rasterio.Affine(*place.transform)


def test_an_image_without_a_place_is_written_without_a_warning(tmp_path):
    strips = [np.zeros((16, 16), np.uint8)]
    write_geotiff(tmp_path / "c.tif", strips, (16, 16), np.dtype(np.uint8), nodata=255, place=Georeference(), tile=16)
    assert Raster.open(tmp_path / "c.tif").place.crs == ""


def test_sizes_of_tiles_and_overviews():
    assert (tile_size(1024), tile_size(320), tile_size(16)) == (256, 160, 16)
    assert overview_factors((100, 200)) == []
    assert overview_factors((4000, 1000)) == [2, 4, 8]


def test_a_damaged_file_is_refused(tmp_path):
    (tmp_path / "a.tif").write_bytes(b"II*\0 no")
    with pytest.raises(FileFormatError, match="no GeoTIFF"):
        Raster.open(tmp_path / "a.tif")


def test_a_file_that_is_cut_off_is_named(raster, tmp_path):
    content = (tmp_path / "a.tif").read_bytes()
    (tmp_path / "cut.tif").write_bytes(content[: len(content) - 3000])
    everything = tuple(slice(0, size) for size in raster[0].shape)
    with pytest.raises(FileFormatError, match=r"cut.tif is no GeoTIFF that can be read: (?!Read failed)"):
        Raster.open(tmp_path / "cut.tif").read(everything)


def test_without_rasterio_the_extra_is_named(monkeypatch):
    original = builtins.__import__

    def without(name, *arguments, **options):
        if name.partition(".")[0] == "rasterio":
            raise ImportError(name)
        return original(name, *arguments, **options)

    monkeypatch.delitem(sys.modules, "rasterio")
    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MixfieldError, match=r"mixfield\[large\]"):
        geotiff.rasterio()
