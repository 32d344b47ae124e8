"""Progress of a batch."""

from __future__ import annotations

from mixfield import batch


def test_tally():
    tally = batch.Tally(10)
    assert str(tally) == "0 of 10, 0 failed"
    tally.add(batch.Outcome("a", fresh=False))
    tally.add(batch.Outcome("b"))
    tally.add(batch.Outcome("c", failure="no"))
    assert str(tally) == "3 of 10, 1 of them earlier, 1 failed"
    assert (tally.completed, tally.reused, tally.done, tally.failed) == (3, 1, 1, 1)
