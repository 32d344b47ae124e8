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
