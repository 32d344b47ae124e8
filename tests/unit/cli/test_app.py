"""The application: usage, help, version."""

from __future__ import annotations

import subprocess
import sys

import pytest
from typer.testing import CliRunner

import mixfield as mf
from mixfield.cli import app

runner = CliRunner()


@pytest.mark.parametrize(
    "arguments", [["solve"], ["nonsense"], ["solve", "x.uai", "--modes", "0"], ["demo", "--seed", "-1"]]
)
def test_bad_usage_exits_with_2(arguments):
    assert runner.invoke(app, arguments).exit_code == 2


def test_help_is_quick_and_loads_no_numba():
    code = """
import sys
from mixfield.cli import main
sys.argv = ["mixfield", "--help"]
try:
    main()
except SystemExit:
    pass
assert not {"numba", "scipy"} & set(sys.modules)
"""
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, timeout=60)


def test_version():
    assert runner.invoke(app, ["--version"]).stdout.strip() == mf.__version__
