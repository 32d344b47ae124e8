"""Labels from linear models of colours against plain loops; also run without the compiler."""

from __future__ import annotations

import naive_kernels
import numpy as np
import pytest

from mixfield._pictures import bilinear_neighbours
from mixfield.kernels import guided_argmax as module

pytestmark = pytest.mark.interpreted


@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize("n_labels", [2, 3, 5])
@pytest.mark.parametrize(("small", "large"), [((4, 5), (9, 17)), ((6, 7), (6, 7)), ((1, 1), (3, 4))])
def test_against_loops(channels, n_labels, small, large):
    rng = np.random.default_rng(0)
    coefficients = rng.normal(0.5 / n_labels, 1, (*small, n_labels - 1, channels + 1)).astype(np.float32)
    picture = rng.random((*large, channels)).astype(np.float32)
    rows, columns = (module.Axis(*bilinear_neighbours(*sizes)) for sizes in zip(small, large, strict=True))
    labels = np.full(large, 99, np.uint8)
    for first, last in ((0, 2), (2, large[0])):
        module.guided_argmax(coefficients, picture, rows, columns, first, last, labels)
    np.testing.assert_array_equal(labels, naive_kernels.guided_argmax(coefficients.astype(float), picture))
