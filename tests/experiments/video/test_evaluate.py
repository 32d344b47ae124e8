"""Choice of one mode per frame from measurements."""

from __future__ import annotations

import numpy as np
import pytest

from experiments.video.evaluate import HARD, Video, calibration, choose, shares, thinned
from mixfield.apps import Consistency

RIGHT, WRONG = [[8, 0], [0, 8]], [[8, 0], [8, 0]]
COLOURS = Consistency(network=0.0, colour=4.0, shape=0.0, caution=1.0)


def row(likeness, field="model", sequence=HARD[0]):
    """Mean field (mode 0) is wrong, mode 1 is right; colours speak for it as given."""
    frame = {
        "counts": [WRONG, RIGHT],
        "network": [0.0, 0.0],
        "weights": [0.0, -1.0],
        "better": [False, True],
        "root": 0,
    }
    chains = [
        {
            "spacing": spacing,
            "start": start,
            "likeness": [[0.0, value] for value in likeness[start::spacing]],
            "gains": np.zeros((len(likeness[start::spacing]) - 1, 2, 2)).tolist(),
        }
        for spacing in (1, 2)
        for start in range(spacing)
    ]
    return {"field": field, "sequence": sequence, "frames": [frame] * len(likeness), "chains": chains}


def test_oracle_mean_field_and_chance():
    scores = Video(row([0.0] * 6), COLOURS).mean_ious()
    assert scores["best mode"] == 100
    assert scores["mean field"] == scores["by weight"] == scores["left out"] == pytest.approx(25)
    assert 40 < scores["random"] < 75


def test_modes_are_chosen_by_the_odds():
    assert choose(row([0.5, 0.2, 0.3]), COLOURS) == [1, 0, 1]
    assert choose(row([0.5, 0.2, 0.3, 0.2]), COLOURS, 1) == [1, 1]  # every second frame


def test_shares_and_their_intervals():
    videos = [Video(row([0.5, 0.5, 0.5, 0.5]), COLOURS), Video(row([0.0] * 4, sequence="easy"), COLOURS)]
    assert shares(videos, HARD)["model"] == [1, 1, 1]
    assert shares(videos)["model"] == pytest.approx([0.5, 0.5, 0.5])
    share, worst = thinned(videos)["model"]
    assert (share, worst) == (pytest.approx(0.5), 0)


def test_stated_probabilities_beside_the_truth():
    found = calibration([Video(row([0.5, 0.0]), COLOURS)])
    assert found == {"changes": 1, "stated": pytest.approx(1 / (1 + np.exp(-1))), "better": 1.0}
