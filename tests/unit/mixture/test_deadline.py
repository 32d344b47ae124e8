"""A limit on the time of a search."""

from __future__ import annotations

from mixfield.mixture import deadline as module
from mixfield.mixture.deadline import Deadline


def test_passed(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: now[0])
    limit, never = Deadline(2.0), Deadline()
    assert not limit.passed
    now[0] = 102.0
    assert limit.passed
    assert not never.passed
