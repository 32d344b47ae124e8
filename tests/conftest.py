"""What all tests share: one toy problem, the folder of public data, and how hard hypothesis tries.

The toy is a ring of five variables with a tail: small enough to enumerate (2 * 2 * 2 * 3 * 2 = 48 states), with
frustration, ragged labels, a factor of three variables and a forbidden pair.

        0 ---- 1         0, 1, 2, 4 have two labels, 3 has three
        |      |         edge (0,1) attracts, (1,2) repels, (0,2) attracts, (2,3) has a 2 x 3 table
        2 -----+         label 1 of variable 3 forbids label 0 of variable 2
        |
        3 ---- 4         (2,3,4) is one factor of three variables
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from browsing import browser, open_page  # noqa: F401 (fixtures)
from hypothesis import HealthCheck, settings

import mixfield as mf
from mixfield.energy import grid_edges

settings.register_profile(
    "mixfield",
    deadline=None,
    max_examples=50,
    derandomize=not os.environ.get("MIXFIELD_EXPLORE"),  # set it to look for new counterexamples
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("mixfield")


def toy_factors():
    """The factors of the toy problem, as `FactorGraph.from_factors` takes them."""
    same = np.array([[-1.0, 1.0], [1.0, -1.0]])
    triple = np.array([[[0.0, 0.4], [0.2, 0.1], [-0.3, 0.0]], [[0.5, 0.0], [0.0, -0.6], [0.2, 0.3]]])
    return [
        ((), np.array(0.25)),
        ((0,), np.array([0.0, 0.3])),
        ((3,), np.array([0.1, 0.0, 0.2])),
        ((0, 1), 1.5 * same),
        ((1, 2), -0.8 * same),
        ((0, 2), 1.1 * same),
        ((2, 3), np.array([[0.0, np.inf, 0.7], [0.4, -0.2, 0.0]])),
        ((2, 3, 4), triple),
    ]


TOY_COUNTS = (2, 2, 2, 3, 2)


@pytest.fixture
def toy():
    return mf.FactorGraph.from_factors(TOY_COUNTS, toy_factors())


@pytest.fixture
def two_wells():
    """Nine spins in a 3 x 3 grid that agree, all of them up or all of them down, up a little more likely."""
    return mf.FactorGraph.ising(np.full((3, 3), 0.02), grid_edges((3, 3)), 1.0)


@pytest.fixture(scope="session")
def data():
    """The folder of public data sets."""
    folder = Path(os.environ.get("MIXFIELD_DATA", Path(__file__).parents[2] / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip(f"no public data in {folder}; set MIXFIELD_DATA to its folder")
    return folder


class BlackBox:
    """An energy of which only the five questions are known; it wraps a graph and has no base class."""

    def __init__(self, graph):
        self._graph = graph
        self.shape = graph.shape
        self.n_labels = graph.n_labels

    def local_field(self, q):
        assert q.shape == (*self.shape, self.n_labels)
        return self._graph.local_field(q)

    def expected(self, q):
        return self._graph.expected(q)

    def of(self, x):
        return self._graph.of(x)


@pytest.fixture
def black_box():
    return BlackBox
