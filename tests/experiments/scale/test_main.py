"""The table of `python -m experiments.scale`."""

from __future__ import annotations

from experiments.scale.__main__ import rows
from experiments.scale.plan import Job


def test_one_row_per_job():
    table = rows([("small", Job(5.0, workers=20)), ("smaller", Job(1.0, workers=20))])
    assert len(table) == 4
    assert table[2].startswith("| small | 2119 | 0.1 TB |")
