"""Verbs over many items: their options, their progress, their failures."""

from __future__ import annotations

import json

import numpy as np
import pytest
import typer
from PIL import Image
from typer.testing import CliRunner

from mixfield import batch
from mixfield.cli import app, batching
from mixfield.errors import MixfieldError


@pytest.mark.parametrize(
    ("options", "engine"),
    [
        (("", None, ""), batch.Serial()),
        (("", 3, ""), batch.Processes(3)),
        (("processes", 1, ""), batch.Processes(1)),
        (("dask", 2, ""), batch.Dask(None, 2)),
        (("", None, "tcp://host:1"), batch.Dask("tcp://host:1")),
    ],
)
def test_options(options, engine):
    assert batching.engine(*options) == engine


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (("threads", None, ""), "serial, processes or dask"),
        (("serial", 2, ""), "one worker"),
        (("serial", None, "tcp://host:1"), "for --engine dask"),
        (("", 2, "tcp://host:1"), "for this machine"),
    ],
)
def test_options_that_contradict(options, complaint):
    with pytest.raises(MixfieldError, match=complaint):
        batching.engine(*options)


def test_facts_and_failures(capsys):
    outcomes = (o for o in [batch.Outcome("a", facts=1), batch.Outcome("b", failure="no\x1b[31m")])
    results = batching.follow(outcomes, "items", 2, quiet=False)
    assert (results.facts, results.failures) == ({"a": 1}, {"b": "no\x1b[31m"})
    with pytest.raises(typer.Exit) as ended:
        results.conclude(quiet=False)
    assert ended.value.exit_code == 1
    assert capsys.readouterr().err == "failed: b: no\\x1b[31m\n"


def test_nothing_but_failures_is_an_error():
    results = batching.follow((batch.Outcome(n, failure="no") for n in "ab"), "items", 2, quiet=True)
    with pytest.raises(MixfieldError, match="all 2 failed, the first, a: no"):
        results.check()


def test_ctrl_c_closes_the_batch(capsys):
    closed = []

    def outcomes():
        try:
            yield batch.Outcome("a")
            raise KeyboardInterrupt
        finally:
            closed.append(True)

    with pytest.raises(typer.Exit) as stopped:
        batching.follow(outcomes(), "items", 2, quiet=True)
    assert stopped.value.exit_code == 130
    assert closed
    assert capsys.readouterr().err.startswith("mixfield: stopped (1 of 2")


def test_unusual_names(tmp_path):
    """Markup, line breaks and bytes that are no text, in the names of good and bad images."""
    (tmp_path / "i").mkdir()
    (tmp_path / "s").mkdir()
    for stem in ("[red]x[bold]", "two\nlines\x1b[31m", "caf\udce9"):
        Image.fromarray(np.zeros((4, 5), np.uint8)).save(tmp_path / "i" / f"{stem}.png")
        np.save(tmp_path / "s" / f"{stem}.npy", np.full((4, 5, 2), 0.5, np.float32))
        (tmp_path / "i" / f"bad{stem}.png").write_bytes(b"")
        np.save(tmp_path / "s" / f"bad{stem}.npy", np.zeros(3))
    words = [tmp_path / "i", "--scores", tmp_path / "s", "--modes", 1, "--out", tmp_path / "o"]
    done = CliRunner().invoke(app, ["segment", *map(str, words)])
    assert done.exit_code == 1, done.output
    assert "3 images segmented, 3 failed" in done.stdout
    for name in ("bad[red]x[bold].png", "badtwo\\nlines\\x1b[31m.png", "badcaf\\udce9.png"):
        assert f"failed: {name}: " in done.output
    assert len(json.loads((tmp_path / "o" / "summary.json").read_text())["failures"]) == 3


def test_names_of_the_batch_are_reserved(tmp_path):
    """An image whose results would replace the summary fails, alone; the next run finds the results of the others."""
    (tmp_path / "i").mkdir()
    (tmp_path / "s").mkdir()
    for stem in ("a", "summary.json", "manifest.jsonl", "Summary.JSON"):
        Image.fromarray(np.zeros((4, 5), np.uint8)).save(tmp_path / "i" / f"{stem}.png")
        np.save(tmp_path / "s" / f"{stem}.npy", np.full((4, 5, 2), 0.5, np.float32))
    words = [tmp_path / "i", "--scores", tmp_path / "s", "--modes", 1, "--out", tmp_path / "o"]
    for said in ("1 image segmented, 3 failed", "1 image segmented, 1 of them by an earlier run, 3 failed"):
        done = CliRunner().invoke(app, ["segment", *map(str, words)])
        assert done.exit_code == 1, done.output
        assert said in done.stdout
        assert "failed: summary.json.png: its results cannot be in a folder called summary.json" in done.output
    summary = json.loads((tmp_path / "o" / "summary.json").read_text())
    assert [row["image"] for row in summary["images"]] == [str(tmp_path / "i" / "a.png")]
    assert set(summary["failures"]) == {"summary.json.png", "manifest.jsonl.png", "Summary.JSON.png"}
