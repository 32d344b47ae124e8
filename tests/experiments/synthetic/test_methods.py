"""The methods that are compared."""

from __future__ import annotations

import pytest

import mixfield as mf
from experiments.synthetic.families import Family
from experiments.synthetic.methods import BASELINE, COLLAPSED, DEFAULT, MATCHED, METHODS, RULES


def test_names():
    assert set(METHODS) == {*RULES, DEFAULT, COLLAPSED}
    assert set(MATCHED) < set(METHODS)
    assert BASELINE not in METHODS


@pytest.mark.parametrize("name", sorted(METHODS))
def test_every_method_is_a_set_of_options_of_infer(name):
    posterior = mf.infer(Family(7, "mmmf", False, "grid").draw(0), 3, **METHODS[name])
    assert len(posterior.modes) == 3
