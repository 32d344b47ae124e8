"""The guided filter against He's formulas, pixel by pixel."""

from __future__ import annotations

import numpy as np
import pytest

from mixfield._pictures import block_means
from mixfield.interactive.guided_filter import GuidedFilter


def slow(guide, values, radius, epsilon):
    """Equations 14 to 16 of the paper, windows with repeated borders."""
    height, width, channels = guide.shape
    padded = np.pad(guide, ((radius, radius), (radius, radius), (0, 0)), mode="edge")
    p = np.pad(values, radius, mode="edge")
    a, b = np.zeros((height, width, channels)), np.zeros((height, width))
    side = 2 * radius + 1
    for i in range(height):
        for j in range(width):
            colours = padded[i : i + side, j : j + side].reshape(-1, channels)
            inside = p[i : i + side, j : j + side].ravel()
            covariance = np.cov(colours.T, bias=True).reshape(channels, channels) + epsilon * np.eye(channels)
            together = (colours * inside[:, None]).mean(0) - colours.mean(0) * inside.mean()
            a[i, j] = np.linalg.solve(covariance, together)
            b[i, j] = inside.mean() - a[i, j] @ colours.mean(0)
    means = [np.pad(one, [(radius, radius)] * 2 + [(0, 0)] * (one.ndim - 2), mode="edge") for one in (a, b)]
    out = np.zeros((height, width))
    for i in range(height):
        for j in range(width):
            slope = means[0][i : i + side, j : j + side].reshape(-1, channels).mean(0)
            out[i, j] = slope @ guide[i, j] + means[1][i : i + side, j : j + side].mean()
    return out


@pytest.mark.parametrize("channels", [1, 3])
def test_against_the_formulas(channels):
    rng = np.random.default_rng(0)
    picture = rng.uniform(0, 255, (9, 11, channels)).astype(np.float32)
    values = rng.random((9, 11)).astype(np.float32)
    found = GuidedFilter.of(picture, radius=2, epsilon=0.01).apply(values)
    np.testing.assert_allclose(found, slow(picture / 255.0, values, 2, 0.01), atol=2e-4)


def test_a_volume_that_does_not_change_along_an_axis_is_an_image():
    rng = np.random.default_rng(0)
    picture = rng.uniform(0, 255, (9, 11, 2)).astype(np.float32)
    values = rng.random((9, 11)).astype(np.float32)
    flat = GuidedFilter.of(picture, radius=2, epsilon=0.01).apply(values)
    for axis in range(3):
        solid = np.repeat(np.expand_dims(picture, axis), 4, axis)
        found = GuidedFilter.of(solid, radius=2, epsilon=0.01).apply(np.repeat(np.expand_dims(values, axis), 4, axis))
        np.testing.assert_allclose(np.moveaxis(found, axis, 0), np.repeat(flat[None], 4, 0), atol=1e-4)


def test_a_border_moves_to_that_of_the_image():
    picture = np.zeros((20, 20, 1), np.float32)
    picture[:, 10:] = 200
    values = np.zeros((20, 20), np.float32)
    values[:, 11:] = 1  # one pixel too far
    labels = GuidedFilter.of(picture, radius=4, epsilon=1e-4).apply(values) > 0.5
    np.testing.assert_array_equal(labels, picture[..., 0] > 0)


def test_at_a_higher_resolution():
    full = np.zeros((40, 40, 1), np.float32)
    full[:, 21:] = 200
    small = full.reshape(20, 2, 20, 2, 1).mean((1, 3))
    values = (small[..., 0] > 50).astype(np.float32)
    found = GuidedFilter.of(small, radius=4, epsilon=1e-4).apply(values, full)
    assert found.shape == (40, 40)
    np.testing.assert_array_equal(found > 0.5, full[..., 0] > 0)


@pytest.mark.parametrize("n_labels", [2, 4])
@pytest.mark.parametrize("scale", [1, 3])
@pytest.mark.parametrize("shape", [(12, 15), (5, 6, 7)])
def test_labels_are_the_largest_of_the_filtered_values(shape, n_labels, scale):
    rng = np.random.default_rng(0)
    full = rng.uniform(0, 255, (*(scale * size for size in shape), 3)).astype(np.float32)
    small = block_means(full, scale)
    values = rng.dirichlet(np.ones(n_labels), shape).astype(np.float32)
    guided = GuidedFilter.of(small, radius=2, epsilon=0.01)
    labels = np.zeros(full.shape[:-1], np.uint16)
    guided.label(values[..., :-1], full, labels)
    filtered = np.stack([guided.apply(values[..., l], full) for l in range(n_labels - 1)], -1)
    expected = np.concatenate([filtered, 1 - filtered.sum(-1, keepdims=True)], -1).clip(0, 1)
    ordered = np.sort(expected, -1)
    clear = ordered[..., -1] - ordered[..., -2] > 1e-4
    assert clear.mean() > 0.9
    np.testing.assert_array_equal(labels[clear], expected.argmax(-1)[clear])
