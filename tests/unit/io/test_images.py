"""Images in and out: every kind of pixel, orientation, damaged and hostile files."""

from __future__ import annotations

import struct
import subprocess
import sys
import zlib

import numpy as np
import pytest
from PIL import EpsImagePlugin, Image, PngImagePlugin

from mixfield import _files
from mixfield.errors import FileFormatError, MixfieldError, TooLargeError
from mixfield.io import images
from mixfield.io.images import pascal_palette, read_image, read_label_map, write_grey, write_label_map

GREY = (np.arange(35, dtype=np.uint8) * 7).reshape(5, 7)
COLOUR = np.stack([GREY, GREY[::-1], GREY[:, ::-1]], -1)


def saved(tmp_path, array, mode=None, name="x.png", **options):
    path = tmp_path / name
    picture = Image.fromarray(array)
    (picture if mode is None else picture.convert(mode)).save(path, **options)
    return path


def test_grey_colour_and_alpha(tmp_path):
    np.testing.assert_array_equal(read_image(saved(tmp_path, GREY)), GREY)
    np.testing.assert_array_equal(read_image(saved(tmp_path, GREY, "LA")), GREY)
    np.testing.assert_array_equal(read_image(saved(tmp_path, COLOUR)), COLOUR)
    np.testing.assert_array_equal(read_image(saved(tmp_path, COLOUR, "RGBA")), COLOUR)


def test_sixteen_bits(tmp_path):
    wide = GREY.astype(np.uint16) * 257
    array = read_image(saved(tmp_path, wide))
    assert array.dtype == np.uint16
    np.testing.assert_array_equal(array, wide)


def test_palette_and_black_and_white(tmp_path):
    path = saved(tmp_path, COLOUR, "P")
    assert read_image(path).shape == (5, 7, 3)
    assert set(np.unique(read_image(saved(tmp_path, GREY > 90)))) == {0, 255}


def test_cmyk(tmp_path):
    path = saved(tmp_path, np.full((8, 8, 3), (200, 30, 90), np.uint8), "CMYK", "x.jpg", quality=100)
    assert np.abs(read_image(path).astype(int) - (200, 30, 90)).max() < 6


def test_exif_orientation_stands_the_image_up(tmp_path):
    exif = Image.Exif()
    exif[0x0112] = 6  # turn by a quarter
    path = saved(tmp_path, COLOUR, exif=exif)
    np.testing.assert_array_equal(read_image(path), np.rot90(COLOUR, -1))


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "not an image"),
        (b"Dear Sir or Madam", "not an image"),
        (b"\x89PNG\r\n\x1a\n", "image"),
    ],
)
def test_other_files_are_refused(tmp_path, content, sentence):
    path = tmp_path / "x.png"
    path.write_bytes(content)
    with pytest.raises(FileFormatError, match=sentence) as caught:
        read_image(path)
    assert "x.png" in str(caught.value)


def test_cut_off_files_are_refused(tmp_path):
    path = saved(tmp_path, np.random.default_rng(0).integers(0, 256, (50, 50, 3), np.uint8))
    path.write_bytes(path.read_bytes()[:2000])
    with pytest.raises(FileFormatError, match="damaged"):
        read_image(path)


@pytest.mark.parametrize("side", [14000, 60000])
def test_decompression_bombs_are_refused_with_the_limit(tmp_path, side):
    def chunk(kind, payload):
        return struct.pack(">I", len(payload)) + kind + payload + struct.pack(">I", zlib.crc32(kind + payload))

    path = tmp_path / "bomb.png"
    head = struct.pack(">IIBBBBB", side, side, 8, 0, 0, 0, 0)
    path.write_bytes(
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(b"0")) + chunk(b"IEND", b"")
    )
    with pytest.raises(TooLargeError, match=str(images.LARGEST)):
        read_image(path)


def test_float_images_are_refused(tmp_path):
    with pytest.raises(FileFormatError, match="8 or 16 bits"):
        read_image(saved(tmp_path, GREY.astype(np.float32), name="x.tif"))


def test_without_pillow_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(MixfieldError, match=r"mixfield\[images\]"):
        read_image("x.png")


def test_label_maps_come_back(tmp_path):
    labels = np.array([[0, 1, 20], [255, 3, 7]])
    path = tmp_path / "labels.png"
    write_label_map(path, labels)
    np.testing.assert_array_equal(read_label_map(path), labels)
    with Image.open(path) as picture:
        assert picture.mode == "P"
        np.testing.assert_array_equal(np.asarray(picture.convert("RGB"))[0, 1], (128, 0, 0))


def test_label_maps_may_be_grey_but_not_coloured(tmp_path):
    np.testing.assert_array_equal(read_label_map(saved(tmp_path, GREY)), GREY)
    wide = GREY.astype(np.uint16) + 300
    np.testing.assert_array_equal(read_label_map(saved(tmp_path, wide)), wide)
    np.testing.assert_array_equal(read_label_map(saved(tmp_path, GREY > 90)), GREY > 90)
    with pytest.raises(FileFormatError, match="one number per pixel"):
        read_label_map(saved(tmp_path, COLOUR))


@pytest.mark.parametrize("labels", [np.zeros(3, int), [[256]], [[-1]], np.zeros((0, 3), int)])
def test_label_maps_that_do_not_fit_a_png(tmp_path, labels):
    with pytest.raises(MixfieldError, match="from 0 to 255"):
        write_label_map(tmp_path / "x.png", labels)


def test_palette_is_that_of_pascal():
    colours = pascal_palette()
    assert len({tuple(c) for c in colours.tolist()}) == 256
    known = {0: (0, 0, 0), 1: (128, 0, 0), 2: (0, 128, 0), 3: (128, 128, 0), 8: (64, 0, 0), 15: (192, 128, 128)}
    for label, colour in known.items():
        assert tuple(colours[label].tolist()) == colour
    assert tuple(colours[255].tolist()) == (224, 224, 192)


def test_palette_is_that_of_the_truth_in_public_data(data):
    path = next((data / "segmentation" / "voc" / "gt").glob("*.png"))
    with Image.open(path) as picture:
        if picture.mode != "P":
            pytest.skip("the truth is stored without its palette")
        np.testing.assert_array_equal(np.reshape(picture.getpalette(), (-1, 3))[:21], pascal_palette()[:21])


def test_grey_maps_are_clipped(tmp_path):
    write_grey(tmp_path / "g.png", [[-1.0, 0.0, 0.5, 1.0, 2.0]])
    assert read_image(tmp_path / "g.png").tolist() == [[0, 0, 128, 255, 255]]


@pytest.mark.parametrize("kind", ["EPS", "PDF", "TGA", "ICO", "PCX", "JPEG2000", "SGI", "XBM"])
def test_other_formats_are_not_opened(tmp_path, kind):
    """Whatever the name of the file: for PostScript, Pillow starts Ghostscript."""
    picture = Image.new("1" if kind == "XBM" else "RGB", (16, 16))
    picture.save(tmp_path / "x.png", kind)
    with pytest.raises(FileFormatError, match=r"x\.png is not an image of a format that is read \(BMP, GIF, JPEG, PNG"):
        read_image(tmp_path / "x.png")


def test_postscript_starts_no_program(tmp_path, monkeypatch):
    monkeypatch.setattr(EpsImagePlugin, "Ghostscript", lambda *_, **__: pytest.fail("Ghostscript was started"))
    monkeypatch.setattr(subprocess, "Popen", lambda *_, **__: pytest.fail("a program was started"))
    (tmp_path / "x.png").write_text("%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n%%EndComments\nshowpage\n")
    for read in (read_image, read_label_map):
        with pytest.raises(FileFormatError, match="is not an image of a format that is read"):
            read(tmp_path / "x.png")


@pytest.mark.parametrize("kind", images.FORMATS)
def test_formats_that_are_read(tmp_path, kind):
    options = {"quality": 100, "lossless": True} if kind == "WEBP" else {}
    path = saved(tmp_path, GREY, name="x", format=kind, **options)
    assert read_image(path).shape[:2] == GREY.shape


@pytest.mark.parametrize("error", [KeyError("x"), SystemError("tile"), ZeroDivisionError(), struct.error("short")])
def test_whatever_a_decoder_raises_is_a_sentence(tmp_path, monkeypatch, error):
    def load(_):
        raise error

    path = saved(tmp_path, COLOUR)
    monkeypatch.setattr(PngImagePlugin.PngImageFile, "load", load)
    with pytest.raises(FileFormatError, match=r"x\.png is a damaged image: "):
        read_image(path)


def test_too_little_memory_is_a_sentence(tmp_path, monkeypatch):
    def load(_):
        raise MemoryError

    path = saved(tmp_path, COLOUR)
    monkeypatch.setattr(PngImagePlugin.PngImageFile, "load", load)
    with pytest.raises(TooLargeError, match=r"x\.png needs more memory than there is"):
        read_image(path)


@pytest.mark.parametrize(("mode", "size"), [("L", 3), ("P", 3), ("RGB", 10), ("RGBA", 10)])
def test_a_small_file_does_not_take_much_memory(tmp_path, monkeypatch, mode, size):
    path = saved(tmp_path, np.zeros((100, 200, 3), np.uint8), mode)
    monkeypatch.setattr(_files, "ALWAYS_READ", 20_000 * size)
    assert read_image(path).shape[:2] == (100, 200)
    monkeypatch.setattr(_files, "ALWAYS_READ", 20_000 * size - 1)
    monkeypatch.setattr(images, "MAX_EXPANSION", 1)
    with pytest.raises(TooLargeError, match=rf"200 x 100 pixels, which take {20_000 * size} bytes in memory"):
        read_image(path)
