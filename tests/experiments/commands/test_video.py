"""`python -m experiments video` on a short sequence."""

from __future__ import annotations

from typer.testing import CliRunner

from experiments.__main__ import app


def test_a_video_resumes_where_it_was_stopped(clip):
    command = ["video", "--data", str(clip), "--modes", "2"]
    folders = ["--work", str(clip / "work"), "--out", str(clip / "out")]
    assert CliRunner().invoke(app, [*command, *folders]).exit_code == 0
    page = (clip / "out" / "video.md").read_text()
    (clip / "work" / "model_square.json").unlink()
    assert CliRunner().invoke(app, [*command, *folders]).exit_code == 0
    assert (clip / "out" / "video.md").read_text() == page
    other = CliRunner().invoke(app, [*command[:-1], "3", *folders])
    assert "other settings" in str(other.exception)
