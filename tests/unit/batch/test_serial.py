"""The serial engine."""

from __future__ import annotations

from mixfield.batch import Item, Serial
from mixfield.batch.perform import DRAFTS


def test_items_run_in_order_when_they_are_asked_for(tmp_path):
    (tmp_path / DRAFTS).mkdir()
    calls = []
    outcomes = Serial().run(lambda k, _: calls.append(k), [Item(str(k), k) for k in range(3)], tmp_path)
    assert calls == []
    assert next(outcomes).name == "0"
    assert calls == [0]
    assert [outcome.name for outcome in outcomes] == ["1", "2"]
