"""The families of random fields."""

from __future__ import annotations

import numpy as np

from experiments.synthetic.families import Family, families


def test_all_combinations_larger_fields_first():
    names = [family.name for family in families()]
    assert len(set(names)) == 16
    assert names[0] == "13x13-mixed-grid-mmmf"
    assert names[-1] == "7x7-attractive-random-weller"
    assert len(families(("mmmf",), (7,))) == 4


def test_an_instance_is_a_seed():
    family = Family(7, "mmmf", True, "grid")
    np.testing.assert_array_equal(family.draw(2).unary, family.draw(2).unary)
    assert (family.draw(2).unary != family.draw(3).unary).any()
