"""Progress of a batch."""

from __future__ import annotations

from mixfield import batch


def test_tally():
    now = [0.0]
    tally = batch.Tally(10, clock=lambda: now[0])
    assert str(tally) == "0 of 10, 0/s, 0 failed"
    tally.add(batch.Outcome("a", fresh=False))
    now[0] = 4.0
    tally.add(batch.Outcome("b"))
    tally.add(batch.Outcome("c", failure="no"))
    assert str(tally) == "3 of 10, 1 of them earlier, 2 s each, 0:00:14 left, 1 failed"
    assert (tally.completed, tally.rate, tally.seconds_left) == (3, 0.5, 14.0)


def test_quick_items_have_a_rate():
    now = [0.0]
    tally = batch.Tally(10_000, clock=lambda: now[0])
    assert tally.seconds_left is None
    for _ in range(100):
        tally.add(batch.Outcome("a"))
    now[0] = 1.0
    assert str(tally) == "100 of 10000, 100/s, 0:01:39 left, 0 failed"


def test_one_item_per_second_is_a_rate():
    now = [0.0]
    tally = batch.Tally(3, clock=lambda: now[0])
    tally.add(batch.Outcome("a"))
    now[0] = 1.0
    assert str(tally) == "1 of 3, 1/s, 0:00:02 left, 0 failed"
