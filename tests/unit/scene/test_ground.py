"""The grid of cells on the ground."""

from __future__ import annotations

import numpy as np
import pytest

from mixfield.errors import MixfieldError
from mixfield.scene import Ground


def test_centres_are_x_and_y_of_the_cells():
    centres = Ground((2, 3), 0.5, (10.0, -1.0)).centres()
    assert centres.shape == (2, 3, 2)
    np.testing.assert_allclose(centres[0, :, 0], [10.25, 10.75, 11.25])
    np.testing.assert_allclose(centres[:, 0, 1], [-0.75, -0.25])


def test_points_are_in_the_cell_with_the_nearest_centre():
    ground = Ground((7, 5), 0.3, (-1.2, 4.0))
    centres = ground.centres().reshape(-1, 2)
    points = np.random.default_rng(0).uniform(-3.0, 8.0, (4, 100, 2))  # also beyond the border
    nearest = np.linalg.norm(centres - points[:, :, None], axis=-1).argmin(-1)
    assert np.array_equal(ground.cells_at(points), nearest)
    assert np.array_equal(ground.cells_at(centres), np.arange(35))
    assert ground.cells_at(np.empty((0, 2))).shape == (0,)


def test_border():
    assert Ground((3, 4), 1.0).border().sum() == 10
    assert not Ground((3, 4), 1.0).border()[1, 1:3].any()
    assert Ground((1, 4), 1.0).border().all()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (((2, 3, 4), 1.0), "shape must be"),
        (((0, 3), 1.0), "rows"),
        (((3, 0), 1.0), "columns"),
        (((3, 3), 0.0), "cell"),
        (((10_000, 10_000), 0.1), "smaller area or larger cells"),
    ],
)
def test_wrong_input_is_named(arguments, message):
    with pytest.raises(MixfieldError, match=message):
        Ground(*arguments)
