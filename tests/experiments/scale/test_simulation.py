"""The simulation of a job against its plan, with and without failures."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from experiments.scale.plan import Job, plan
from experiments.scale.simulation import simulate

JOB = Job(20.0, workers=100, hours_between_failures=math.inf)


def test_without_failures_it_is_the_plan():
    found = simulate(JOB)
    assert (found.failures, found.wasted) == (0, 0.0)
    assert found.seconds == pytest.approx(plan(JOB).seconds, rel=0.1)
    assert found.read == JOB.blocks * JOB.bytes_per_block


def test_failures_cost_what_the_plan_says():
    job = replace(JOB, hours_between_failures=0.2)
    found = simulate(job)
    assert found.failures > 50
    assert found.seconds == pytest.approx(plan(job).seconds, rel=0.15)
    assert found.wasted == pytest.approx(job.block_seconds / (3600 * 0.2), rel=0.3)


def test_a_slow_driver_and_a_slow_store_limit_the_job():
    for change in ({"record_seconds": 0.5}, {"store_bytes": 5e7}):
        job = replace(JOB, **change)
        assert simulate(job).blocks_seconds == pytest.approx(
            max(plan(job).driver, plan(job).store, plan(job).workers), rel=0.15
        )
        assert simulate(job).seconds > 1.2 * simulate(JOB).seconds


def test_the_same_seed_gives_the_same_run():
    job = replace(JOB, hours_between_failures=1.0)
    assert simulate(job, 3) == simulate(job, 3) != simulate(job, 4)
