"""Values along rays from a click."""

from __future__ import annotations

import numpy as np

from mixfield.interactive.click_rays import along_rays


def test_a_wall_hides_what_lies_behind_it():
    values = np.zeros((41, 41))
    values[:, 30:32] = 5.0
    largest, _ = along_rays(values, (20, 20))
    assert largest[:, :29].max() < 0.1
    assert largest[:, 33:].min() > 3.5


def test_sums_are_those_of_the_distances():
    largest, sums = along_rays(np.ones((31, 41)), (10, 15))
    rows, columns = np.mgrid[:31, :41]
    np.testing.assert_allclose(largest, 1)
    np.testing.assert_allclose(sums, 1 + np.hypot(rows - 10, columns - 15), atol=0.05)
