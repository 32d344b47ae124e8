"""Probabilities in 8 bits, against the formula."""

from __future__ import annotations

import numpy as np
import pytest

from mixfield.kernels.eight_bits import decode, encode

pytestmark = pytest.mark.interpreted


@pytest.mark.parametrize("concentration", [0.05, 1.0, 20.0])
@pytest.mark.parametrize("n_labels", [1, 2, 5, 21])
def test_codes_and_what_they_stand_for(n_labels, concentration):
    q = np.zeros((50, n_labels + 3), np.float32)
    q[:, :n_labels] = np.random.default_rng(0).dirichlet(np.full(n_labels, concentration), 50)
    q[0, :n_labels] = np.eye(n_labels)[0] * np.float32(1 + 1e-6)  # rounding may leave a little more than one
    codes, read = np.empty((50, n_labels), np.uint8), np.full_like(q, np.nan)
    encode(q, codes)
    assert (codes == np.rint(255 * np.sqrt(np.minimum(q[:, :n_labels], 1)))).all()
    decode(codes, read)
    squares = codes.astype(float) ** 2
    assert read[:, :n_labels] == pytest.approx(squares / squares.sum(1, keepdims=True), rel=1e-6)
    assert (read[:, n_labels:] == 0).all()
    assert np.abs(read - q).max() < 0.006
