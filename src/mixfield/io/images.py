"""Images and label maps as files, by Pillow."""

from __future__ import annotations

import warnings
from os import PathLike
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mixfield import _files
from mixfield.errors import FileFormatError, MixfieldError, TooLargeError

StrPath = str | PathLike[str]

SUFFIXES = (".bmp", ".gif", ".jpeg", ".jpg", ".png", ".ppm", ".pgm", ".tif", ".tiff", ".webp")
LARGEST = 178_956_970  # pixels: 512 MB of RGB, twice the number at which Pillow warns
GREY_MODES = ("1", "L", "LA", "La")
MAX_LEVEL = 65535  # of 16 bits


def pillow() -> ModuleType:
    """The module ``PIL.Image``, or a `MixfieldError` that names the extra to install."""
    try:
        from PIL import Image
    except ImportError:
        raise MixfieldError("images are read and written by Pillow: pip install 'mixfield[images]'") from None
    return Image


def read_image(path: StrPath) -> NDArray[Any]:
    """Read an image as ``uint8`` or ``uint16``: (H, W) if it is grey, else (H, W, 3).

    The EXIF orientation is applied; palettes and CMYK become RGB; alpha is dropped.
    """
    picture = _open(path)
    if picture.mode.startswith("I"):
        return _sixteen_bits(picture, path)
    if picture.mode == "F":
        raise FileFormatError(f"{path} holds floating point intensities; save it with 8 or 16 bits per channel")
    return np.asarray(picture.convert("L" if picture.mode in GREY_MODES else "RGB"))


def read_label_map(path: StrPath) -> NDArray[Any]:
    """Read labels (H, W) from an image: the indices of a palette, or the grey levels."""
    picture = _open(path, apply_orientation=False)
    if picture.mode.startswith("I"):
        return _sixteen_bits(picture, path)
    if picture.mode not in ("1", "L", "P"):
        raise FileFormatError(
            f"{path} is no label map: it must be grey or have a palette, one number per pixel, got {picture.mode}"
        )
    return np.asarray(picture)


def write_label_map(path: StrPath, labels: ArrayLike) -> None:
    """Write labels (H, W) from 0 to 255 as an indexed PNG with PASCAL's colors; `read_label_map` reads it."""
    array = np.asarray(labels)
    if array.ndim != 2 or array.size == 0 or array.min() < 0 or array.max() > 255:
        raise MixfieldError(f"labels must be (H, W) numbers from 0 to 255 for a PNG, got shape {array.shape}")
    picture = pillow().fromarray(array.astype(np.uint8))
    picture.putpalette(pascal_palette().tobytes())
    _save(path, picture)


def write_image(path: StrPath, image: NDArray[np.uint8]) -> None:
    """Write an image (H, W) or (H, W, 3) as PNG."""
    _save(path, pillow().fromarray(image))


def write_grey(path: StrPath, values: ArrayLike) -> None:
    """Write numbers (H, W) from 0 to 1, clipped, as an 8-bit grey PNG."""
    write_image(path, np.rint(255 * np.clip(np.asarray(values, np.float64), 0, 1)).astype(np.uint8))


def pascal_palette() -> NDArray[np.uint8]:
    """(256, 3) colors of PASCAL VOC: the bits of a label go to red, green and blue in turn, highest bits first."""
    labels = np.arange(256)
    colors = np.zeros((256, 3), np.uint8)
    for place in range(8):
        for channel in range(3):
            bit = (labels >> (3 * place + channel)) & 1
            colors[:, channel] |= (bit << (7 - place)).astype(np.uint8)
    return colors


def _save(path: StrPath, picture: Any) -> None:
    with _files.draft(path) as draft:
        picture.save(draft, format="PNG")


def _open(path: StrPath, *, apply_orientation: bool = True) -> Any:
    """Decode an image file; returns a Pillow image."""
    image = pillow()
    with open(path, "rb") as stream, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Pillow's warnings on size and metadata; our errors follow
        try:
            with image.open(stream) as picture:
                return _decoded(picture, path, apply_orientation)
        except MixfieldError:
            raise
        except image.DecompressionBombError:
            raise TooLargeError(f"{path} has more than the {LARGEST} pixels that are read; make it smaller") from None
        except image.UnidentifiedImageError:
            raise FileFormatError(f"{path} is not an image that Pillow can read") from None
        except (OSError, SyntaxError, ValueError, EOFError) as error:
            raise FileFormatError(f"{path} is a damaged image: {error}") from None


def _decoded(picture: Any, path: StrPath, apply_orientation: bool) -> Any:
    """Load the pixels; the size is checked first."""
    from PIL import ImageOps

    width, height = picture.size
    if width * height > LARGEST:
        raise TooLargeError(
            f"{path} has {width} x {height} pixels, more than the {LARGEST} that are read; make it smaller"
        )
    picture.load()
    return ImageOps.exif_transpose(picture) if apply_orientation else picture.copy()


def _sixteen_bits(picture: Any, path: StrPath) -> NDArray[np.uint16]:
    array = np.asarray(picture)
    if array.min() < 0 or array.max() > MAX_LEVEL:
        raise FileFormatError(f"{path} must have at most 16 bits per pixel, got {array.min()}..{array.max()}")
    return array.astype(np.uint16)
