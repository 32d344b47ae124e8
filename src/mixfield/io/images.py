"""Images and label maps as files, by Pillow."""

from __future__ import annotations

import io
import warnings
from os import PathLike
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mixfield import _files
from mixfield.errors import FileFormatError, MixfieldError, ReducedDepthWarning, TooLargeError
from mixfield.io import deep_color

StrPath = str | PathLike[str]

SUFFIXES = (".bmp", ".gif", ".jpeg", ".jpg", ".png", ".ppm", ".pgm", ".tif", ".tiff", ".webp")
FORMATS = ("BMP", "GIF", "JPEG", "PNG", "PPM", "TIFF", "WEBP")  # for others, such as PostScript, Pillow runs programs
MAX_FILE = 1 << 30  # bytes
LARGEST = 178_956_970  # pixels: 512 MB of RGB, twice the number at which Pillow warns
MAX_EXPANSION = 1000  # bytes in memory per byte of the file: flat pictures compress well
GREY_BYTES, COLOR_BYTES, DEEP_BYTES = 3, 10, 20  # per pixel in memory while an image is read
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

    The EXIF orientation is applied; palettes and CMYK become RGB; alpha is dropped.  Where 16 bits per channel cannot
    be kept (PPM, separate planes of TIFF), a `ReducedDepthWarning` names the file.
    """
    picture, tiles = _open(path)
    if picture.mode.startswith("I"):
        return _sixteen_bits(picture, path)
    if picture.mode == "F":
        raise FileFormatError(f"{path} holds floating point intensities; save it with 8 or 16 bits per channel")
    array = _pixels(picture, "L" if picture.mode in GREY_MODES else "RGB")
    return _deep_colors(path, array, tiles) if deep_color.is_reduced(picture.mode, tiles) else array


def read_label_map(path: StrPath) -> NDArray[Any]:
    """Read labels (H, W) from an image: the indices of a palette, or the grey levels."""
    picture, _ = _open(path, apply_orientation=False)
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


def _open(path: StrPath, *, apply_orientation: bool = True, tiles: list[Any] | None = None) -> tuple[Any, list[Any]]:
    """Decode an image file.

    Parameters
    ----------
    path : the file.
    apply_orientation : of the EXIF data.
    tiles : instead of those of the file.

    Returns
    -------
    image
        Of Pillow.
    list
        The tiles of the file: which decoder read which part of it, and how.
    """
    image = pillow()
    content = _files.read_bytes(path, MAX_FILE)  # Pillow asks files for the bytes that a chunk declares, up to 4 GB
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Pillow's warnings on size and metadata; our errors follow
        try:
            with image.open(io.BytesIO(content), formats=FORMATS) as picture:
                _check_size(picture, path, len(content))
                found = list(picture.tile)
                picture.tile = found if tiles is None else tiles
                return _decoded(picture, apply_orientation), found
        except MixfieldError:
            raise
        except image.DecompressionBombError:
            raise TooLargeError(f"{path} has more than the {LARGEST} pixels that are read; make it smaller") from None
        except image.UnidentifiedImageError:
            raise FileFormatError(f"{path} is not an image of a format that is read ({', '.join(FORMATS)})") from None
        except MemoryError as error:
            raise TooLargeError(f"{path} needs more memory than there is") from error
        except Exception as error:  # decoders raise whatever they meet
            raise FileFormatError(f"{path} is a damaged image: {error or type(error).__name__}") from None


def _check_size(picture: Any, path: StrPath, file_size: int) -> None:
    """Refuse an opened image that takes too much memory: pixels are not decoded yet."""
    width, height = picture.size
    if width * height > LARGEST:
        raise TooLargeError(
            f"{path} has {width} x {height} pixels, more than the {LARGEST} that are read; make it smaller"
        )
    is_color = picture.mode not in (*GREY_MODES, "P") and not picture.mode.startswith("I")
    is_deep = deep_color.is_reduced(picture.mode, picture.tile)
    size = width * height * (DEEP_BYTES if is_deep else COLOR_BYTES if is_color else GREY_BYTES)
    if size > _files.largest_content(file_size, MAX_EXPANSION):
        raise TooLargeError(
            f"{path} has {file_size} bytes and {width} x {height} pixels, which take {size} bytes in memory; at most "
            f"{MAX_EXPANSION} times the size of a file are read: save it with less compression, or make it smaller"
        )


def _decoded(picture: Any, apply_orientation: bool) -> Any:
    from PIL import ImageOps

    picture.load()
    if apply_orientation:
        ImageOps.exif_transpose(picture, in_place=True)
    return picture


def _deep_colors(path: StrPath, high: NDArray[np.uint8], tiles: list[Any]) -> NDArray[Any]:
    """(H, W, 3) with 16 bits per channel, or the high bytes and a warning if the decoder has only those."""
    swapped = deep_color.with_low_bytes(tiles)
    if swapped is None:
        warnings.warn(
            f"{path} has more than 8 bits per channel and is read with 8; save it as PNG with 16 bits to keep them",
            ReducedDepthWarning,
            stacklevel=3,
        )
        return high
    low, _ = _open(path, tiles=swapped)
    return deep_color.combined(high, _pixels(low, "RGB"))


def _pixels(picture: Any, mode: str) -> NDArray[np.uint8]:
    return np.asarray(picture if picture.mode == mode else picture.convert(mode))


def _sixteen_bits(picture: Any, path: StrPath) -> NDArray[np.uint16]:
    array = np.asarray(picture)
    if array.min() < 0 or array.max() > MAX_LEVEL:
        raise FileFormatError(f"{path} must have at most 16 bits per pixel, got {array.min()}..{array.max()}")
    return array.astype(np.uint16)
