"""Images as intensities, and arrays at another resolution."""

from __future__ import annotations

import numpy as np
import pytest

from mixfield._pictures import block_means, foreground, intensities, resize_bilinear
from mixfield.errors import MixfieldError

PROBS = np.random.default_rng(0).random((6, 9, 3)).astype(np.float32)


def test_lower_resolution_is_interpolated():
    ramp = np.linspace(0, 1, 8, dtype=np.float32)[None, :, None] * np.ones((4, 1, 1), np.float32)
    wide = resize_bilinear(ramp, (8, 16))[..., 0]
    assert wide.shape == (8, 16)
    np.testing.assert_allclose(np.diff(wide[0])[1:-1], 1 / 14, atol=1e-6)
    np.testing.assert_allclose(resize_bilinear(np.full((1, 1, 2), 0.3, np.float32), (3, 5)), 0.3)
    both = resize_bilinear(PROBS, (13, 17))
    assert PROBS.min() <= both.min() <= both.max() <= PROBS.max()


def test_aligned_corners_keep_the_corner_pixels():
    """As ``align_corners=True`` of PyTorch: a ramp stays a ramp from its first to its last value."""
    ramp = np.linspace(0, 1, 4, dtype=np.float32)[:, None, None] * np.ones((1, 3, 1), np.float32)
    tall = resize_bilinear(ramp, (10, 5), align_corners=True)[..., 0]
    np.testing.assert_allclose(tall, np.linspace(0, 1, 10)[:, None] * np.ones((1, 5)), atol=1e-6)
    assert not np.allclose(tall, resize_bilinear(ramp, (10, 5))[..., 0], atol=0.01)
    both = resize_bilinear(PROBS, (13, 17), align_corners=True)
    for corner in ((0, 0), (0, -1), (-1, 0), (-1, -1)):
        np.testing.assert_allclose(both[corner], PROBS[corner])


def test_the_type_of_an_image_says_its_range():
    grey = np.array([[0, 51, 255]], np.uint8)
    expected = grey[..., None].astype(np.float32)
    for image in (grey, grey.astype(int), grey.astype(np.uint16) * 257, grey / 255, (grey / 255).astype(np.float32)):
        np.testing.assert_allclose(intensities(image), expected, atol=1e-3)
    np.testing.assert_array_equal(intensities(grey > 100), [[[0], [0], [255]]])


def test_alpha_is_dropped_and_other_channels_are_kept():
    image = np.random.default_rng(0).integers(0, 256, (3, 4, 4), np.uint8)
    np.testing.assert_array_equal(intensities(image), image[..., :3])
    for channels in (1, 2, 3, 5):
        assert intensities(np.zeros((3, 4, channels), np.uint8)).shape == (3, 4, channels)


@pytest.mark.parametrize(
    ("image", "sentence"),
    [
        (np.full((2, 2), 254.0), "divide it by its white"),
        (np.full((2, 2), 1.02), "clip it"),
        (np.full((2, 2), 300), "0..255"),
        (np.full((2, 2), -1), "0..255"),
        (np.full((2, 2), np.nan), "NaN"),
        (np.zeros((2, 2, 2, 2)), "channels"),
        (np.zeros((0, 2)), "channels"),
        (np.array([["a"]]), "numbers"),
    ],
)
def test_wrong_images_are_one_sentence(image, sentence):
    with pytest.raises(MixfieldError, match=sentence):
        intensities(image)


def test_masks_are_shares_at_the_reduced_size():
    mask = np.zeros((4, 6), np.uint8)
    mask[:2, :3] = 255
    half = foreground(mask, (4, 6), 2, "mask")
    np.testing.assert_allclose(half, [[1, 0.5, 0], [0, 0, 0]])
    np.testing.assert_array_equal(foreground(half, (4, 6), 2, "mask"), half)
    with pytest.raises(MixfieldError, match=r"hill must have shape \(height, width\) = \(4, 7\) as its view, got"):
        foreground(mask, (4, 7), 1, "hill")


def test_block_means_against_a_loop():
    array = np.random.default_rng(0).random((7, 10, 2)).astype(np.float32)
    found = block_means(array, 3)
    assert found.shape == (3, 4, 2)
    for i in range(3):
        for j in range(4):
            block = array[3 * i : 3 * i + 3, 3 * j : 3 * j + 3]
            np.testing.assert_allclose(found[i, j], block.mean((0, 1)), rtol=1e-5)
    assert block_means(array, 1) is array
