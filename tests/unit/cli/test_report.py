"""``mixfield report`` on the results of the other verbs."""

from __future__ import annotations

import json

import numpy as np
import pytest
from page_examples import random_posterior
from page_reading import facts_of
from PIL import Image
from typer.testing import CliRunner

import mixfield as mf
from mixfield.cli import app
from mixfield.errors import MixfieldError
from mixfield.reports.segmentation import write_segmentation

runner = CliRunner()


def test_of_a_posterior(tmp_path):
    mf.infer(mf.datasets.random_ising(3, rng=0), 2).save(tmp_path / "grid.npz")
    answer = runner.invoke(app, ["report", str(tmp_path / "grid.npz"), "--json", "--title", "My grid"])
    page = (tmp_path / "grid.html").read_text()
    assert json.loads(answer.stdout)["bytes"] == len(page.encode())
    assert "<h1>My grid</h1>" in page


def test_of_a_segmentation(tmp_path):
    post, image = random_posterior()
    write_segmentation(tmp_path / "cat", image, post, np.full((6, 8), 0.5))
    out = tmp_path / "page.html"
    answer = runner.invoke(app, ["report", str(tmp_path / "cat"), "--out", str(out)])
    assert answer.exit_code == 0, answer.output
    assert "open it in a browser" in answer.stdout
    assert facts_of(out.read_text())["doubt"]["maximum"] == 1.0


def test_of_people(tmp_path):
    walk = mf.datasets.walking_people(n_people=2, n_frames=3, rng=1)
    for t, masks in enumerate(walk.masks):
        mf.detect(walk.scene, list(masks), 2).save(tmp_path / f"frame_{t:06d}.npz")
    answer = runner.invoke(app, ["report", str(tmp_path)])
    assert answer.exit_code != 0
    assert "--scene" in str(answer.exception)
    for t, masks in enumerate(walk.masks):
        for c, mask in enumerate(masks):
            Image.fromarray(mask).convert("L").save(tmp_path / f"mask_{c}_{t}.png")
    mf.write_pom(tmp_path / "room.pom", walk.scene, masks="mask_%c_%f.png")
    rows, columns = walk.scene.ground.shape
    scene = tmp_path / "scene.toml"
    scene.write_text(f'pom = "room.pom"\nrows = {rows}\ncolumns = {columns}\ncell = 0.25\n')
    table = tmp_path / "tracks.csv"
    arguments = ["track", str(tmp_path), "--scene", str(scene), "--frame-rate", "4", "--out", str(table)]
    assert runner.invoke(app, arguments).exit_code == 0
    chosen = json.loads(table.with_suffix(".json").read_text())["chosen_modes"]
    arguments = ["report", str(tmp_path), "--scene", str(scene), "--tracks", str(table), "--frames", "1:"]
    answer = runner.invoke(app, arguments)
    assert answer.exit_code == 0, answer.output
    facts = facts_of((tmp_path / "report.html").read_text())
    assert [frame["chosen"] for frame in facts["frames"]] == chosen[1:]
    assert [frame["number"] for frame in facts["frames"]] == [1, 2]
    assert len(facts["cameras"]) == len(facts["frames"][0]["pictures"]) == 2
    assert facts["tracks"]
    assert all(first + len(positions) <= 2 for _, first, positions in facts["tracks"])


@pytest.mark.parametrize(("make", "word"), [(lambda _: None, "does not exist"), (lambda p: p.mkdir(), "no result.npz")])
def test_of_nothing(tmp_path, make, word):
    make(tmp_path / "x")
    answer = runner.invoke(app, ["report", str(tmp_path / "x")])
    assert answer.exit_code != 0
    assert word in str(answer.exception)


def test_frames_must_be_places(tmp_path):
    answer = runner.invoke(app, ["report", str(tmp_path), "--frames", "a:b"])
    assert "0:400" in str(answer.exception)


@pytest.fixture
def posterior(tmp_path):
    mf.infer(mf.datasets.random_ising(3, rng=0), 2).save(tmp_path / "grid.npz")
    return tmp_path / "grid.npz"


def test_beside_the_result_or_at_out(posterior, tmp_path):
    facts = json.loads(runner.invoke(app, ["report", str(posterior), "--json"]).stdout)
    assert facts["report"] == str(tmp_path / "grid.html")
    assert facts["bytes"] == (tmp_path / "grid.html").stat().st_size
    text = runner.invoke(app, ["report", str(posterior), "--out", str(tmp_path / "other.html")]).stdout
    assert f"wrote {tmp_path / 'other.html'}" in text
    assert (tmp_path / "other.html").read_text() == (tmp_path / "grid.html").read_text()


def test_two_results_of_a_folder_have_two_pages(posterior, tmp_path):
    (tmp_path / "second.npz").write_bytes(posterior.read_bytes())
    (tmp_path / "result.npz").write_bytes(posterior.read_bytes())
    for name in ("grid", "second", "result"):
        assert runner.invoke(app, ["report", str(tmp_path / f"{name}.npz")]).exit_code == 0
    assert {path.name for path in tmp_path.glob("*.html")} == {"grid.html", "second.html", "report.html"}
    assert "<h1>second</h1>" in (tmp_path / "second.html").read_text()


def test_frames_are_checked_before_the_page_is_made(posterior):
    done = runner.invoke(app, ["report", str(posterior), "--frames", "3"])
    assert isinstance(done.exception, MixfieldError)
    assert "--frames must look like" in str(done.exception)
    assert not (posterior.parent / "report.html").exists()
