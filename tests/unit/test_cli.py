"""The command line: answers, files, and one sentence with exit code 2 for bad input."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest
from typer.testing import CliRunner

import mixfield as mf
from mixfield.cli import app, main
from mixfield.io import read_label_map, uai, write_uai

runner = CliRunner()


@pytest.fixture
def model(tmp_path):
    path = tmp_path / "model.uai"
    write_uai(path, mf.datasets.random_ising(4, rng=1))
    return path


def run_main(monkeypatch, capsys, *arguments):
    """Exit code and error text of the program itself."""
    monkeypatch.setattr(sys, "argv", ["mixfield", *map(str, arguments)])
    with pytest.raises(SystemExit) as stop:
        main()
    return stop.value.code, capsys.readouterr().err


def test_solve_prints_weights_and_log_z(model):
    answer = runner.invoke(app, ["solve", str(model), "--modes", "3", "--exact"])
    assert answer.exit_code == 0
    for word in ("weight", "mass inside", "log Z~", "exact log Z"):
        assert word in answer.stdout


def test_solve_json_is_the_library_answer(model):
    answer = runner.invoke(app, ["solve", str(model), "--modes", "3", "--seed", "5", "--json", "--exact"])
    facts = json.loads(answer.stdout)
    graph = mf.read_uai(model)
    posterior = mf.infer(graph, 3, rng=5)
    np.testing.assert_allclose(facts["weights"], posterior.weights)
    assert facts["log_z"] == pytest.approx(posterior.log_z)
    assert facts["exact_log_z"] == pytest.approx(mf.exact(graph).log_z)
    assert [m["labeling"] for m in facts["modes"]] == posterior.labelings().reshape(3, -1).tolist()


def test_solve_writes_posterior_and_answers(model, tmp_path):
    out, pr, mar = tmp_path / "r.npz", tmp_path / "r.PR", tmp_path / "r.MAR"
    options = ["--modes", "2", "--out", str(out), "--pr", str(pr), "--mar", str(mar), "--json"]
    facts = json.loads(runner.invoke(app, ["solve", str(model), *options]).stdout)
    assert mf.load(out).log_z == pytest.approx(facts["log_z"])
    assert uai.read_pr(pr) == pytest.approx(facts["log_z"], abs=1e-5)
    np.testing.assert_allclose(np.stack(uai.read_mar(mar)), mf.load(out).marginals(), atol=1e-9)


def test_evidence_is_used(model, tmp_path):
    evidence = tmp_path / "e.evid"
    evidence.write_text("1 3 1\n")
    answer = runner.invoke(app, ["solve", str(model), "--evidence", str(evidence), "--modes", "2", "--json"])
    assert all(mode["labeling"][3] == 1 for mode in json.loads(answer.stdout)["modes"])


def test_threads_do_not_change_the_answer(model):
    answers = [
        json.loads(runner.invoke(app, ["solve", str(model), "--json", "--threads", str(n)]).stdout) for n in (1, 2, 8)
    ]
    for answer in answers:
        del answer["seconds"]
    assert answers[0] == answers[1] == answers[2]


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (None, "no such file"),
        ("", "MARKOV or BAYES"),
        ("MARKOV\n2\n2 2\n1\n2 0 1\n4 1 2 3", "bad.uai"),
        ("MARKOV\n1\n2\n1\n1 0\n2 0 0", "variable 0"),
        ("MARKOV\n1000000000000", "bad.uai"),
    ],
)
def test_bad_models_are_one_sentence(tmp_path, monkeypatch, capsys, content, sentence):
    path = tmp_path / "bad.uai"
    if content is not None:
        path.write_text(content)
    code, error = run_main(monkeypatch, capsys, "solve", path)
    assert code == 2
    assert sentence in error
    assert "Traceback" not in error
    assert error.startswith("mixfield: ")
    assert len(error.strip().splitlines()) == 1


def test_outputs_are_checked_before_the_work(model, tmp_path, monkeypatch, capsys):
    code, error = run_main(monkeypatch, capsys, "solve", model, "--out", tmp_path / "none" / "r.npz")
    assert (code, "does not exist" in error) == (2, True)
    code, error = run_main(monkeypatch, capsys, "solve", model, "--pr", tmp_path)
    assert (code, "folder" in error) == (2, True)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["model.uai"]


@pytest.mark.parametrize(
    "arguments", [["solve"], ["nonsense"], ["solve", "x.uai", "--modes", "0"], ["demo", "--seed", "-1"]]
)
def test_bad_usage_exits_with_2(arguments):
    assert runner.invoke(app, arguments).exit_code == 2


def test_demo_tells_what_mean_field_missed(tmp_path):
    answer = runner.invoke(app, ["demo", "--graph", "--out", str(tmp_path / "demo"), "--json"])
    facts = json.loads(answer.stdout)
    assert facts["flipped_variables"] == 64
    assert abs(facts["log_odds"] - facts["exact_log_odds"]) < 0.5
    assert facts["mean_field_log_z"] < facts["mixture_log_z"] < facts["exact_log_z"]
    picture = (tmp_path / "demo" / "four-zones.svg").read_text()
    assert picture.startswith("<svg")
    assert picture.count("data:image/png") == 5
    assert "nats from the truth" in (tmp_path / "demo" / "report.html").read_text()
    assert mf.read_uai(tmp_path / "demo" / "four-zones.uai").n == 256


def test_demo_of_a_photograph_leaves_two_questions_open(tmp_path):
    out = tmp_path / "demo"
    facts = json.loads(runner.invoke(app, ["demo", "--out", str(out), "--json"]).stdout)
    assert len(facts["weights"]) == 4
    assert max(facts["weights"]) < 0.5
    maps = np.stack([read_label_map(out / f"mode_{k}.png") for k in range(1, 5)])
    helmet, table, face, wall = ((slice(200, 240), slice(180, 220)), (slice(155, 170), slice(220, 250)),
                                 (slice(55, 80), slice(100, 120)), (slice(20, 60), slice(225, 235)))  # fmt: skip
    answers = {tuple(bool(labels[place].mean() > 0.5) for place in (helmet, table)) for labels in maps}
    assert answers == {(True, True), (True, False), (False, True), (False, False)}
    assert all(labels[face].mean() > 0.9 and labels[wall].mean() < 0.1 for labels in maps)
    for name in ("report.html", "figure.png", "result.npz", "image.png", "scribbles.png"):
        assert (out / name).stat().st_size > 0
    assert "Who is the astronaut?" in (out / "report.html").read_text()


def test_demo_of_people_has_tracks(tmp_path, monkeypatch):
    monkeypatch.setattr("mixfield.reports.demos.FRAMES", 4)
    facts = json.loads(runner.invoke(app, ["demo", "--people", "--out", str(tmp_path), "--json"]).stdout)
    assert facts["frames"] == 4
    assert facts["tracks"] >= 3
    assert (tmp_path / "report.html").stat().st_size > 0
    assert (tmp_path / "people.svg").read_text().startswith("<svg")
    assert len(list((tmp_path / "modes").glob("frame_*.npz"))) == 4


def test_demo_prints_a_table_and_the_next_command(tmp_path):
    text = runner.invoke(app, ["demo", "--graph", "--out", str(tmp_path)]).stdout
    assert "next:" in text
    assert "mixfield solve" in text
    assert "report.html" in text


def test_demo_without_scikit_image_says_so_and_shows_the_graph(tmp_path, monkeypatch):
    monkeypatch.setattr("mixfield.cli.demo.find_spec", lambda _: None)
    answer = runner.invoke(app, ["demo", "--out", str(tmp_path), "--json"])
    *before, last = answer.output.splitlines()  # older versions of Click cannot tell the two streams apart
    assert "mixfield[demo]" in "\n".join(before)
    assert json.loads(last)["flipped_variables"] == 64


def test_one_demo_at_a_time(monkeypatch, capsys):
    code, error = run_main(monkeypatch, capsys, "demo", "--people", "--graph")
    assert (code, "choose one" in error) == (2, True)


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
