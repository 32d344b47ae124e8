"""Tiles: levels of half the size, made of the pixels of image and labels."""

from __future__ import annotations

import numpy as np
import pytest
from large_images import several_blocks

from mixfield.large.axes import PixelArray
from mixfield.large.sources import InMemory
from mixfield.large.tiles import OPACITY, TILE, Pyramid
from mixfield.reports.palette import label_colors


def pyramid_of(shape, most=1000, *, image=False):
    labels = np.random.default_rng(0).integers(0, 3, shape, np.uint8)
    labels[:5] = 255
    picture = several_blocks(shape)[0]
    shown = PixelArray(InMemory(picture), 2) if image else None
    return Pyramid(PixelArray(InMemory(labels), None), shown, 255, most), labels, picture


@pytest.mark.parametrize(("shape", "levels", "count"), [((200, 250), 1, 1), ((300, 250), 2, 3), ((300, 700), 3, 9)])
def test_every_pixel_is_in_a_tile_of_every_level(shape, levels, count):
    pyramid, labels, _ = pyramid_of(shape)
    tiles = list(pyramid.tiles())
    assert (pyramid.step, pyramid.levels, len(tiles)) == (1, levels, count)
    for level in range(levels):
        step = 2 ** (levels - 1 - level)
        shown = np.zeros((*labels[::step, ::step].shape, 3), np.uint8)
        for tile in tiles:
            if tile.level == level:
                rows, columns = tile.row * TILE, tile.column * TILE
                shown[rows : rows + len(tile.pixels), columns : columns + tile.pixels.shape[1]] = tile.pixels
        few = labels[::step, ::step]
        np.testing.assert_array_equal(shown, np.where((few == 255)[..., None], 255, label_colors()[few]))


def test_colours_lie_on_the_image():
    pyramid, labels, picture = pyramid_of((100, 120), image=True)
    (tile,) = pyramid.tiles()
    there = labels == 1
    expected = (1 - OPACITY) * picture[there] + OPACITY * label_colors()[1]
    np.testing.assert_allclose(tile.pixels[there], expected, atol=1)
    np.testing.assert_array_equal(tile.pixels[labels == 0], picture[labels == 0])


def test_the_finest_levels_are_left_out_of_many_tiles():
    pyramid, labels, _ = pyramid_of((1100, 700), most=4)
    assert pyramid.step == 4
    (*_, top) = pyramid.tiles()
    assert (top.level, top.row, top.column) == (0, 0, 0)
    assert len(list(pyramid_of((1100, 700), most=1)[0].tiles())) == 1
    assert len(top.pixels) == -(-len(labels) // (pyramid.step * 2 ** (pyramid.levels - 1)))
