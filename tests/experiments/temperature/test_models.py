"""Where the entropy of the three models passes the threshold."""

from __future__ import annotations

import numpy as np
import pytest

from experiments.temperature import models
from experiments.temperature.models import GAMMA, entropy_curve, transition
from experiments.temperature.photos import synthetic_photo


def _curve(crf):
    return entropy_curve(crf, [1.0, 3.0, 4.5, 4.8, 4.9, 5.0, 5.1, 6.0])


@pytest.fixture(scope="module")
def photo():
    return synthetic_photo().reduced(40)


def test_transition_of_model_1_is_at_half_of_gamma(photo):
    curve = _curve(models.models(photo)["model 1"])
    for temperature in curve["melts_at"].values():
        assert temperature == pytest.approx(GAMMA / 2, rel=0.05)
    assert curve["mean"][0] < 0.05


def test_transition_of_model_2_is_there_too_and_earlier_in_doubtful_regions(photo):
    melts_at = _curve(models.models(photo)["model 2"])["melts_at"]
    assert melts_at["lowest_decile"] == pytest.approx(GAMMA / 2, rel=0.05)
    assert melts_at["highest_decile"] <= melts_at["mean"] <= melts_at["lowest_decile"]


def test_model_3_stays_certain_where_there_is_evidence(photo):
    curve = _curve(models.models(photo)["model 3"])
    assert curve["lowest_decile"][-1] < 0.75
    assert curve["melts_at"]["lowest_decile"] is None


def test_transition_is_where_the_entropy_rises_through_the_threshold():
    temperatures = np.array([1.0, 2.0, 3.0])
    assert transition(temperatures, np.array([0.5, 0.98, 1.0])) == pytest.approx(2.5)
    assert transition(temperatures, np.array([0.1, 0.2, 0.3])) is None
    assert transition(temperatures, np.ones(3)) is None
