"""The plan of a job: arithmetic that can be done by hand."""

from __future__ import annotations

import math

from experiments.scale.plan import Job, cost_per_gigapixel, plan

EASY = Job(1.0, labels=1, channels=0, block=1000, halo=0, cpu_per_megapixel=3.0, workers=10, store_bytes=math.inf)


def test_by_hand():
    job = EASY
    assert (job.blocks, job.overhead, job.bytes_per_block, job.solve_seconds) == (1000, 1.0, 2e6, 3.0)
    found = plan(Job(**(job.__dict__ | {"hours_between_failures": math.inf})))
    assert math.isclose(found.workers, 1000 * (3 + 2e6 / 1e8) / 10)
    assert found.first_limit == "workers"


def test_the_first_limit_depends_on_the_job():
    slow_store, slow_driver = (
        Job(**(EASY.__dict__ | change)) for change in ({"store_bytes": 1e5}, {"record_seconds": 9})
    )
    assert plan(slow_store).first_limit == "store"
    assert plan(slow_driver).first_limit == "driver"
    assert plan(Job(**(EASY.__dict__ | {"assemble_bytes": 1e3}))).first_limit == "assembly"


def test_a_gigapixel_costs_the_cores():
    assert math.isclose(cost_per_gigapixel(EASY, 3600), 10 * EASY.core_hour)
