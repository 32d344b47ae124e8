"""Options of solvers."""

from __future__ import annotations

import pytest
from catalogue import CATALOGUE

import mixfield as mf
from mixfield.errors import MixfieldError


@pytest.fixture(params=CATALOGUE, ids=str)
def graph(request):
    return CATALOGUE[request.param]()


def test_tolerance_changes_the_answer(graph):
    rough, fine = (mf.mean_field(graph, solver=mf.Solver(tolerance=t)) for t in (1e-1, 1e-9))
    assert rough.iterations < fine.iterations


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"tolerance": 0.0}, "tolerance must be a finite number above 0"),
        ({"max_iterations": 0}, "max_iterations must be an integer >= 1"),
        ({"threads": 0}, "threads must be an integer >= 1"),
    ],
)
def test_wrong_solver(options, sentence):
    with pytest.raises(MixfieldError, match=sentence):
        mf.Solver(**options)


def test_threads_are_those_of_the_environment(monkeypatch):
    monkeypatch.setenv("MIXFIELD_THREADS", "3")
    assert mf.Solver().threads == 3
    assert mf.Solver(threads=5).threads == 5
