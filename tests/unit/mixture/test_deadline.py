"""A limit on the time of a search."""

from __future__ import annotations

from mixfield.mixture import deadline
from mixfield.mixture.deadline import Deadline


def test_passed(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(deadline, "clock", lambda: now[0])
    limit, never = Deadline(2.0), Deadline()
    assert not limit.passed
    now[0] = 102.0
    assert limit.passed
    assert not never.passed


def test_a_part_begins_with_the_whole(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(deadline, "clock", lambda: now[0])
    whole = Deadline(10.0)
    now[0] = 104.0
    half, forever = whole.part(0.5), Deadline().part(0.5)
    assert not half.passed
    now[0] = 105.0
    assert half.passed
    assert not whole.passed
    now[0] = 110.0
    assert whole.passed
    assert not forever.passed
