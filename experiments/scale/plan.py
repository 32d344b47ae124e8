"""Bytes, processor time and cost of a large segmentation by arithmetic, and the resource that ends first."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Job:
    """A large segmentation and the machines for it; the rates are measured or those of usual clouds.

    Attributes
    ----------
    gigapixels : size of the image.
    labels, channels : of scores (two bytes each) and image (one byte each).
    block, halo : pixels along an axis, as in `mixfield.segment_large`.
    cpu_per_megapixel : seconds of one core, per megapixel that is solved, halos included.
    workers : of one core each.
    store_bytes, worker_bytes : per second, of the object store for all workers, and of one worker.
    hours_between_failures : of one worker; a lost block is repeated.
    restart_seconds : until a lost worker is replaced.
    record_seconds : of the driver, per finished block: checksum, line of the manifest.
    assemble_bytes : per second, of labels that the driver joins to one file.
    core_hour : price of a core for an hour.
    """

    gigapixels: float = 1000.0
    labels: int = 4
    channels: int = 3
    block: int = 1536
    halo: int = 208
    cpu_per_megapixel: float = 2.5
    workers: int = 1000
    store_bytes: float = 5e9
    worker_bytes: float = 1e8
    hours_between_failures: float = 24.0
    restart_seconds: float = 60.0
    record_seconds: float = 2e-3
    assemble_bytes: float = 1e8
    core_hour: float = 0.04

    @property
    def blocks(self) -> int:
        """Number of blocks."""
        return max(1, round(self.gigapixels * 1e9 / self.block**2))

    @property
    def overhead(self) -> float:
        """Pixels that are read and solved for each pixel of the answer."""
        return (1 + 2 * self.halo / self.block) ** 2

    @property
    def bytes_per_block(self) -> float:
        """Bytes that a block reads: the window with its halo, uncompressed."""
        return float((self.block + 2 * self.halo) ** 2 * (2 * self.labels + self.channels))

    @property
    def solve_seconds(self) -> float:
        """Processor time of a block."""
        return self.cpu_per_megapixel * (self.block + 2 * self.halo) ** 2 / 1e6

    @property
    def block_seconds(self) -> float:
        """Time of a block on one worker, alone on the store."""
        return self.solve_seconds + self.bytes_per_block / self.worker_bytes


@dataclass(frozen=True)
class Plan:
    """Seconds that each resource needs for the whole job; the longest is the time of the job, about.

    Attributes
    ----------
    workers : compute and read, with what failures cost.
    store : of the object store.
    driver : records of finished blocks.
    assembly : one file from all labels, after the blocks.
    """

    workers: float
    store: float
    driver: float
    assembly: float

    @property
    def seconds(self) -> float:
        """Time of the job: blocks, then the file."""
        return max(self.workers, self.store, self.driver) + self.assembly

    @property
    def first_limit(self) -> str:
        """The resource that takes longest."""
        return max(("workers", "store", "driver", "assembly"), key=lambda name: getattr(self, name))


def plan(job: Job) -> Plan:
    """The plan of a job.

    A worker that fails every F seconds loses the restart and half of a block: a share ``1 - (restart + block / 2) / F``
    of its time is useful.
    """
    between = 3600 * job.hours_between_failures
    useful = max(1e-9, 1 - (job.restart_seconds + job.block_seconds / 2) / between)
    return Plan(
        workers=job.blocks * job.block_seconds / job.workers / useful,
        store=job.blocks * job.bytes_per_block / job.store_bytes,
        driver=job.blocks * job.record_seconds,
        assembly=job.gigapixels * 1e9 / job.assemble_bytes,
    )


def cost_per_gigapixel(job: Job, seconds: float) -> float:
    """Price of the cores for a gigapixel, those that wait included."""
    return job.workers * seconds / 3600 * job.core_hour / job.gigapixels
