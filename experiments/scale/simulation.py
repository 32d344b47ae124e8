"""A job on many workers, event by event: shared store, failures, a driver that records one block at a time."""

from __future__ import annotations

import heapq
from dataclasses import dataclass

import numpy as np

from experiments.scale.plan import Job

SPREAD = 0.35  # standard deviation of the logarithm of the time of a block: some have more labels and updates


@dataclass(frozen=True)
class Simulated:
    """What happened.

    Attributes
    ----------
    seconds : until the labels are one file.
    blocks_seconds : until the last block is recorded.
    failures : of workers while they had a block.
    wasted : share of the processor time whose blocks were lost.
    read : bytes, those of lost blocks included.
    busiest_wait : longest time that a finished block waited for the driver.
    """

    seconds: float
    blocks_seconds: float
    failures: int
    wasted: float
    read: float
    busiest_wait: float


def simulate(job: Job, seed: int = 0) -> Simulated:
    """Run a job.

    Workers take the next block as soon as they are free.  Reads share the store: with r readers a worker gets
    ``min(worker_bytes, store_bytes / r)``, with the expected number of readers in place of the actual one.  A worker
    fails after an exponential time; its block returns to the queue and its successor starts after ``restart_seconds``.
    The driver records finished blocks in the order of their arrival.
    """
    rng = np.random.default_rng(seed)
    rate = _read_rate(job)
    todo, done, driver_free = job.blocks, 0, 0.0
    between = 3600 * job.hours_between_failures
    free = [(0.0, worker) for worker in range(min(job.workers, job.blocks))]
    fails_at = rng.exponential(between, job.workers)
    events: list[tuple[float, int, float]] = []  # time, worker, processor time of the block, negative if it is lost
    lost = used = waited = 0.0
    failures = reads = 0
    while done < job.blocks:
        while todo and free:
            start, worker = heapq.heappop(free)
            work = job.solve_seconds * rng.lognormal(-(SPREAD**2) / 2, SPREAD)
            end = start + job.bytes_per_block / rate + work
            todo, reads = todo - 1, reads + 1
            broken = fails_at[worker] < end
            heapq.heappush(events, (fails_at[worker] if broken else end, worker, -work if broken else work))
        now, worker, work = heapq.heappop(events)
        used += abs(work)
        if work < 0:
            failures, lost, todo = failures + 1, lost - work, todo + 1
            fails_at[worker] = now + job.restart_seconds + rng.exponential(between)
            heapq.heappush(free, (now + job.restart_seconds, worker))
            continue
        recorded = max(now, driver_free) + job.record_seconds
        waited, driver_free, done = max(waited, recorded - now), recorded, done + 1
        heapq.heappush(free, (now, worker))
    assembly = job.gigapixels * 1e9 / job.assemble_bytes
    return Simulated(driver_free + assembly, driver_free, failures, lost / used, reads * job.bytes_per_block, waited)


def _read_rate(job: Job) -> float:
    """Bytes per second of a reading worker, by the fixed point of the share of workers that read."""
    rate = job.worker_bytes
    for _ in range(50):
        reading = job.bytes_per_block / rate
        readers = max(1.0, job.workers * reading / (reading + job.solve_seconds))
        rate = 0.5 * rate + 0.5 * min(job.worker_bytes, job.store_bytes / readers)
    return rate
