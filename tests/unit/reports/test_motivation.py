"""The motivating example of the paper."""

from __future__ import annotations

import pytest

from mixfield.reports.motivation import STEPS, motivation


def test_the_modes_differ_where_the_evidence_is_silent():
    steps = []
    found = motivation(8, progress=steps.append)
    assert steps == list(range(1, STEPS + 1))
    assert found.flipped[4:, 4:].all()
    assert not found.flipped[:4].any()
    assert found.single.log_z <= found.posterior.log_z <= found.true_log_z
    assert found.log_odds == pytest.approx(found.true_log_odds, abs=0.5)
