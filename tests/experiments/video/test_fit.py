"""Constants of the temporal choice are those that made the data."""

from __future__ import annotations

import numpy as np
import pytest

from experiments.video.fit import RESERVE, fit


def sequence(rng, frames, odds):
    """Modes whose truth is drawn from given log-odds; mean field is mode 0."""
    network, likeness = rng.normal(-1, 1, (2, frames, 6))
    gains = rng.uniform(-0.1, 0.1, (frames - 1, 6, 6))
    gains -= gains[:, :1, :1]
    shape = np.zeros((frames, 6))
    shape[1:] += gains[:, 0]
    shape[:-1] += gains[:, :, 0]
    better = rng.random((frames, 6)) < 1 / (1 + np.exp(-odds(network, likeness, shape)))
    rows = [{"root": 0, "network": n.tolist(), "better": b.tolist()} for n, b in zip(network, better, strict=True)]
    chain = {"spacing": 1, "start": 0, "likeness": likeness.tolist(), "gains": gains.tolist()}
    return {"frames": rows, "chains": [chain]}


def test_the_odds_of_the_data_are_found():
    rng = np.random.default_rng(0)
    rows = [sequence(rng, 1500, lambda n, a, s: -0.5 + 0.7 * n + 2.0 * a + 6.0 * s) for _ in range(2)]
    found = fit(rows)
    assert found.network == pytest.approx(0.7, abs=0.1)
    assert found.colour == pytest.approx(2.0, abs=0.15)
    assert found.shape == pytest.approx(6.0, abs=0.8)
    assert found.caution == pytest.approx(0.5 + RESERVE, abs=0.15)
