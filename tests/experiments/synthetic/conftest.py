"""Measurements and summaries of a few random fields."""

from __future__ import annotations

import pytest

from experiments.synthetic.families import Family
from experiments.synthetic.measure import measure
from experiments.synthetic.summary import summarise


@pytest.fixture(scope="session")
def small_families():
    return [Family(7, "mmmf", attractive, "grid") for attractive in (False, True)]


@pytest.fixture(scope="session")
def large_families():
    return [Family(13, "mmmf", attractive, "grid") for attractive in (False, True)]


@pytest.fixture(scope="session")
def rows(small_families, large_families):
    """Three 7 x 7 fields and one 13 x 13 field of each sign, 8 modes."""
    small = [measure(family, seed, 8) for family in small_families for seed in range(3)]
    return small + [measure(family, 0, 8) for family in large_families]


@pytest.fixture(scope="session")
def summaries(rows):
    return summarise(rows)
