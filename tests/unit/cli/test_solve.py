"""``mixfield solve``: answers, files, and one sentence for bad input."""

from __future__ import annotations

import json

import numpy as np
import pytest
from command_line import error_of
from typer.testing import CliRunner

import mixfield as mf
from mixfield.cli import app
from mixfield.io import uai, write_uai

runner = CliRunner()


@pytest.fixture
def model(tmp_path):
    path = tmp_path / "model.uai"
    write_uai(path, mf.datasets.random_ising(4, rng=1))
    return path


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
    error = error_of(monkeypatch, capsys, "solve", path)
    assert sentence in error
    assert "Traceback" not in error


def test_outputs_are_checked_before_the_work(model, tmp_path, monkeypatch, capsys):
    error = error_of(monkeypatch, capsys, "solve", model, "--out", tmp_path / "none" / "r.npz")
    assert "does not exist" in error
    assert "folder" in error_of(monkeypatch, capsys, "solve", model, "--pr", tmp_path)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["model.uai"]


def test_the_exact_answer_may_be_too_large(model, monkeypatch):
    from mixfield.errors import TooLargeError

    def refuse(_graph):
        raise TooLargeError("treewidth 99")

    monkeypatch.setattr(mf, "exact", refuse, raising=False)
    answer = runner.invoke(app, ["solve", str(model), "--modes", "1", "--exact"])
    assert answer.exit_code == 0
    assert "no exact answer: treewidth 99" in answer.output
    assert "exact log Z" not in answer.output


def test_a_folder_that_cannot_be_written_is_refused_before_the_work(monkeypatch, capsys, tmp_path):
    model = tmp_path / "model.uai"
    write_uai(model, mf.datasets.four_zones(6))
    monkeypatch.setattr(mf, "infer", lambda *_, **__: pytest.fail("the work began"))
    monkeypatch.setattr("pathlib.Path.touch", _refused)
    for option in ("--out", "--pr", "--mar"):
        error = error_of(monkeypatch, capsys, "solve", model, option, tmp_path / "answer")
        assert f"cannot write to {tmp_path}" in error


def _refused(self, **_):
    raise PermissionError(13, "Permission denied", str(self))
