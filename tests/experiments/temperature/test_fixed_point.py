"""Solutions of the fixed-point equation."""

from __future__ import annotations

import pytest

from experiments.temperature import fixed_point
from experiments.temperature.models import GAMMA


@pytest.mark.parametrize(("unary", "temperature"), [(0.0, 2.5), (1.0, 2.5), (1.0, 3.7), (4.0, 7.0)])
def test_solutions_solve(unary, temperature):
    found = fixed_point.solutions(GAMMA, unary, temperature)
    for q in found:
        assert fixed_point.right_hand_side(q, GAMMA, unary, temperature) == pytest.approx(q, abs=1e-9)
    assert len(found) == (3 if temperature < fixed_point.splitting_temperature(GAMMA, unary) else 1)


def test_a_unary_as_strong_as_the_coupling_leaves_one_solution():
    assert fixed_point.splitting_temperature(GAMMA, GAMMA) == 0.0
    assert fixed_point.splitting_temperature(GAMMA, -1.0) == fixed_point.splitting_temperature(GAMMA, 1.0)
