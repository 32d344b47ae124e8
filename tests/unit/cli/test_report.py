"""``mixfield report``: where the page goes."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

import mixfield as mf
from mixfield.cli import app
from mixfield.errors import MixfieldError


@pytest.fixture
def posterior(tmp_path):
    mf.infer(mf.datasets.random_ising(3, rng=0), 2).save(tmp_path / "grid.npz")
    return tmp_path / "grid.npz"


def test_beside_the_result_or_at_out(posterior, tmp_path):
    facts = json.loads(CliRunner().invoke(app, ["report", str(posterior), "--json"]).stdout)
    assert facts["report"] == str(tmp_path / "report.html")
    assert facts["bytes"] == (tmp_path / "report.html").stat().st_size
    text = CliRunner().invoke(app, ["report", str(posterior), "--out", str(tmp_path / "other.html")]).stdout
    assert f"wrote {tmp_path / 'other.html'}" in text
    assert (tmp_path / "other.html").read_text() == (tmp_path / "report.html").read_text()


def test_frames_are_checked_before_the_page_is_made(posterior):
    done = CliRunner().invoke(app, ["report", str(posterior), "--frames", "3"])
    assert isinstance(done.exception, MixfieldError)
    assert "--frames must look like" in str(done.exception)
    assert not (posterior.parent / "report.html").exists()
