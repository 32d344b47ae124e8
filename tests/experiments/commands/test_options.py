"""Options and steps that the commands share."""

from __future__ import annotations

from pathlib import Path

import pytest

from experiments.commands import options
from mixfield.errors import MixfieldError


def _double(x: int) -> dict[str, int]:
    return {"double": 2 * x}


def test_data_folder(monkeypatch):
    monkeypatch.setenv("MIXFIELD_DATA", "elsewhere")
    assert options.data_folder(None) == Path("elsewhere")
    assert options.data_folder(Path("here")) == Path("here")


def test_measured_makes_and_loads(tmp_path):
    tasks = {"a": (1,), "b": (2,)}
    with pytest.raises(MixfieldError, match="without --page-only"):
        options.measured(_double, tasks, tmp_path, "numbers", page_only=True, workers=1, quiet=True)
    rows = options.measured(_double, tasks, tmp_path, "numbers", page_only=False, workers=1, quiet=True)
    assert rows == [{"double": 2}, {"double": 4}]


def test_command_line():
    assert options.command_line("x") == "python -m experiments x"
    assert options.command_line("x", quick=True) == "python -m experiments x --quick"


def test_calls_are_counted():
    done = []
    advance = options.counted(done.append)
    for name in "abc":
        advance(name)
    assert done == [1, 2, 3]
