"""Eight threads that share an object get the answers of a call alone."""

from __future__ import annotations

import pytest
from faults import shared_objects
from faults.shared_objects import SHARED, wrong_answers


@pytest.mark.parametrize("name", SHARED)
def test_threads_share_an_object(name):
    assert wrong_answers(name, rounds=2) == (16, 0)


def test_wrong_answers_are_counted(monkeypatch):
    calls = iter(range(100))
    monkeypatch.setitem(SHARED, "counter", (lambda: calls, next))
    assert wrong_answers("counter", rounds=2) == (2 * shared_objects.THREADS, 16)
