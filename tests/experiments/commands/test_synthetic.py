"""`python -m experiments synthetic`: its claims on a few fields."""

from __future__ import annotations

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from experiments.__main__ import app
from experiments.synthetic.methods import BASELINE, DEFAULT, RULES
from experiments.synthetic.summary import restarts_of
from mixfield.errors import MixfieldError

pytest.importorskip("matplotlib")


def _run(folder, *words):
    """The numbers that a command writes."""
    folders = ["--work", str(folder / "work"), "--out", str(folder / "out")]
    done = CliRunner().invoke(app, ["synthetic", *words, *folders])
    assert done.exit_code == 0, done.output
    return json.loads((folder / "out" / "synthetic.json").read_text())


def _assert_ours_is_below_the_baseline(families):
    """Of the four kinds of 7 x 7 fields, at every number of modes, on average."""
    assert len(families) == 4
    for entry in families:
        means = {name: np.array(curve["mean"]) for name, curve in entry["curves"].items()}
        for rule in (*(name for name in RULES if name.startswith("OURS")), DEFAULT):
            assert (means[rule] < means[BASELINE]).all()
            assert means[rule][-1] < means[restarts_of(DEFAULT, "equal_sweeps")][-1]


def test_command(tmp_path):
    results = _run(tmp_path, "--quick", "--instances", "2", "--modes", "8", "--workers", "1")
    assert [entry["instances"] for entry in results["families"]] == [[0, 1]] * 4
    _assert_ours_is_below_the_baseline(results["families"])
    assert "All 2 instances of every family are in." in (tmp_path / "out" / "synthetic.md").read_text()
    missing = CliRunner().invoke(app, ["synthetic", "--page-only", "--work", str(tmp_path / "none")])
    assert isinstance(missing.exception, MixfieldError)


@pytest.mark.slow
def test_quick(tmp_path):
    """The whole of it: ten instances, 16 modes."""
    results = _run(tmp_path, "--quick")
    assert {(len(entry["instances"]), entry["modes"][-1]) for entry in results["families"]} == {(10, 16)}
    _assert_ours_is_below_the_baseline(results["families"])
    verdicts = {claim["claim"]: claim["verdict"] for claim in results["claims"]}
    for size in (1, 3):
        assert verdicts[f"OURS-RANDOM is better than BASELINE-MAXW in most cases (L = {size})"] == "confirmed"
