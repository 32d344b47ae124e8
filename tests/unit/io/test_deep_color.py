"""Colors with 16 bits per channel."""

from __future__ import annotations

import struct
import warnings
import zlib

import numpy as np
import pytest
from PIL import Image

from mixfield.errors import ReducedDepthWarning
from mixfield.io.images import read_image

DEEP = np.random.default_rng(0).integers(0, 65536, (5, 7, 3)).astype(np.uint16)
COLOR, GREY_ALPHA, COLOR_ALPHA = 2, 4, 6  # kinds of PNG


def _png(path, array, kind, interlace=0):
    def chunk(name, payload):
        return struct.pack(">I", len(payload)) + name + payload + struct.pack(">I", zlib.crc32(name + payload))

    rows = b"".join(b"\0" + row.astype(">u2").tobytes() for row in array)
    head = struct.pack(">IIBBBBB", array.shape[1], array.shape[0], 16, kind, 0, 0, interlace)
    content = chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + content)
    return path


def test_png(tmp_path):
    array = read_image(_png(tmp_path / "a.png", DEEP, COLOR))
    assert array.dtype == np.uint16
    np.testing.assert_array_equal(array, DEEP)


def test_png_with_alpha(tmp_path):
    alpha = np.full((5, 7, 1), 300, np.uint16)
    np.testing.assert_array_equal(read_image(_png(tmp_path / "a.png", np.dstack([DEEP, alpha]), COLOR_ALPHA)), DEEP)


@pytest.mark.parametrize("compression", [1, 5, 8])
def test_tiff(tmp_path, compression):
    cv2 = pytest.importorskip("cv2")
    cv2.imwrite(str(tmp_path / "a.tif"), DEEP[..., ::-1], [cv2.IMWRITE_TIFF_COMPRESSION, compression])
    np.testing.assert_array_equal(read_image(tmp_path / "a.tif"), DEEP)


def test_orientation(tmp_path):
    cv2 = pytest.importorskip("cv2")
    cv2.imwrite(str(tmp_path / "a.tif"), DEEP[..., ::-1], [cv2.IMWRITE_TIFF_COMPRESSION, 1])
    content = bytearray((tmp_path / "a.tif").read_bytes())
    assert content[:2] == b"II"
    (start,) = struct.unpack("<I", content[4:8])
    (count,) = struct.unpack("<H", content[start : start + 2])
    entry = struct.pack("<HHIHH", 274, 3, 1, 6, 0)  # turn by a quarter
    entries = bytes(content[start + 2 : start + 2 + 12 * count])
    tags = sorted(
        [entries[12 * k : 12 * k + 12] for k in range(count)] + [entry], key=lambda e: struct.unpack("<H", e[:2])
    )
    tags = [tag for tag in tags if tag[:2] != entry[:2] or tag == entry]
    content[4:8] = struct.pack("<I", len(content))
    content += struct.pack("<H", len(tags)) + b"".join(tags) + bytes(4)
    (tmp_path / "a.tif").write_bytes(content)
    np.testing.assert_array_equal(read_image(tmp_path / "a.tif"), np.rot90(DEEP, -1))


@pytest.mark.parametrize("largest", [1023, 65535])
def test_where_depth_is_lost_a_warning_names_the_file(tmp_path, largest):
    header = f"P6 7 5 {largest}\n".encode()
    (tmp_path / "a.ppm").write_bytes(header + np.minimum(DEEP, largest).astype(">u2").tobytes())
    with pytest.warns(ReducedDepthWarning, match=r"a\.ppm has more than 8 bits per channel and is read with 8"):
        array = read_image(tmp_path / "a.ppm")
    assert (array.dtype, array.shape) == (np.uint8, DEEP.shape)
    with pytest.warns(ReducedDepthWarning, match=r"b\.png has more than 8 bits"):
        read_image(_png(tmp_path / "b.png", DEEP[..., :2], GREY_ALPHA))


@pytest.mark.parametrize("name", ["a.png", "a.tif", "a.ppm", "a.webp"])
def test_eight_bits_are_read_without_a_word(tmp_path, name):
    Image.fromarray(DEEP.astype(np.uint8)).save(tmp_path / name)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert read_image(tmp_path / name).dtype == np.uint8
