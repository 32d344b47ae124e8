"""``python -m experiments.scale``: the plan and the simulation of a job side by side."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace

from experiments.scale.plan import Job, cost_per_gigapixel, plan
from experiments.scale.simulation import simulate


def rows(jobs: Sequence[tuple[str, Job]]) -> list[str]:
    """A table in Markdown."""
    lines = [
        "| job | blocks | moved | plan, h | simulated, h | lost | first limit | per gigapixel |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name, job in jobs:
        planned, found = plan(job), simulate(job)
        lines.append(
            f"| {name} | {job.blocks} | {found.read / 1e12:.1f} TB | {planned.seconds / 3600:.2f} | "
            f"{found.seconds / 3600:.2f} | {100 * found.wasted:.1f} % | {planned.first_limit} | "
            f"{cost_per_gigapixel(job, found.seconds):.3f} |"
        )
    return lines


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gigapixels", type=float, default=Job.gigapixels)
    parser.add_argument("--workers", type=int, default=Job.workers)
    parser.add_argument("--seconds", type=float, default=Job.cpu_per_megapixel, help="of a core, per megapixel")
    options = parser.parse_args()
    job = Job(options.gigapixels, workers=options.workers, cpu_per_megapixel=options.seconds)
    jobs = [
        ("as given", job),
        ("blocks of 512", replace(job, block=512)),
        ("blocks of 3072", replace(job, block=3072)),
        ("a failure per worker and hour", replace(job, hours_between_failures=1.0)),
        ("a store of 1 GB/s", replace(job, store_bytes=1e9)),
        ("ten times the workers", replace(job, workers=10 * job.workers)),
        ("ten times the workers, labels left in chunks", replace(job, workers=10 * job.workers, assemble_bytes=1e12)),
    ]
    print("\n".join(rows(jobs)))


if __name__ == "__main__":
    main()
