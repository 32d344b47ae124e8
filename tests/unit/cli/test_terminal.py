"""Output on a terminal and in a pipe, Ctrl-C, options that every verb has, completion."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import typer
from command_line import write_annotated
from typer.testing import CliRunner

import mixfield as mf
from mixfield.cli import app
from mixfield.cli.terminal import Progress, print_table, printable

COMMANDS = typer.main.get_command(app).commands
UAI = "MARKOV\n2\n2 2\n1\n2 0 1\n4\n1 2\n2 1\n"

STEPS = """
import sys
from mixfield.cli.terminal import Progress, print_table, printable
with Progress("steps", 4, quiet="--json" in sys.argv) as advance:
    for step in range(1, 4):
        advance(step)
        sys.stdin.readline()
"""


def on_a_terminal(*words: str) -> str:
    """What a program shows whose error stream is a terminal; each step waits for a line."""
    pty = pytest.importorskip("pty", reason="pseudo-terminals are for POSIX systems")
    main, other = pty.openpty()
    environment = os.environ | {"TERM": "xterm", "COLUMNS": "100"}
    with subprocess.Popen(
        [sys.executable, "-c", STEPS, *words], stdin=subprocess.PIPE, stdout=other, stderr=other, env=environment
    ) as program:
        os.close(other)
        program.communicate(b"\n" * 3)
    shown = b""
    try:
        while part := os.read(main, 1 << 16):
            shown += part
    except OSError:  # the other side is closed
        pass
    os.close(main)
    return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", shown.decode())


def test_a_bar_with_the_time_left_on_a_terminal():
    assert re.search(r"steps .* \d:\d\d:\d\d", on_a_terminal())


def test_no_bar_with_json():
    assert "steps" not in on_a_terminal("--json")


def test_no_bar_in_a_pipe():
    done = subprocess.run([sys.executable, "-c", STEPS], input=b"\n" * 3, capture_output=True, check=True)
    assert done.stdout + done.stderr == b""


def test_ctrl_c_says_what_is_left(capsys):
    with pytest.raises(typer.Exit) as stopped, Progress("steps", 4, quiet=True, stopped="two files are left"):
        raise KeyboardInterrupt
    assert stopped.value.exit_code == 130
    assert capsys.readouterr().err == "mixfield: stopped; two files are left\n"


def test_names_from_outside_cannot_control_the_terminal():
    assert printable("a b\x1b[31m\ncaf\udce9é") == "a b\\x1b[31m\\ncaf\\udce9é"


def test_tables_show_texts_as_they_are(capsys):
    print_table("[red]title", ("name", "number"), [("[bold]x", 1), ("y\n", 20)])
    title, _, heads, _, *rows, _ = capsys.readouterr().out.splitlines()
    assert title == "[red]title"
    assert heads.split() == ["┃", "name", "┃", "number", "┃"]
    assert rows == ["│ [bold]x │      1 │", "│ y\\n     │     20 │"]


def test_a_table_without_heads(capsys):
    print_table("t", ("", ""), [("a", 1)])
    assert "│ a │ 1 │" in capsys.readouterr().out


def interrupted(*_, **__):
    raise KeyboardInterrupt


@pytest.fixture
def inputs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("model.uai").write_text(UAI)
    mf.infer(mf.read_uai(Path("model.uai")), 1).save("posterior.npz")
    (tmp_path / "modes").mkdir()
    (tmp_path / "people" / "pets09-s2l1").mkdir(parents=True)
    walk = mf.datasets.walking_people(1, 1, 1)
    mf.detect(walk.scene, walk.masks[0], 1).save("modes/frame_000000.npz")
    np.save("scores.npy", np.full((8, 8, 2), 0.5))
    image = pytest.importorskip("PIL.Image")
    image.fromarray(np.zeros((8, 8, 3), np.uint8)).save("photo.png")
    (tmp_path / "annotated").mkdir()
    write_annotated(tmp_path / "annotated")
    return tmp_path


@pytest.mark.parametrize(
    ("command", "work", "says"),
    [
        ("demo", "mixfield.reports.demos.photograph", "begins again"),
        ("demo --people", "mixfield.reports.demos.people", "mixfield-demo/modes"),
        ("demo --graph", "mixfield.reports.demos.graph", "begins again"),
        ("solve model.uai", "mixfield.infer", "fewer --modes"),
        ("solve model.uai --exact --out kept.npz", "mixfield.exact", "where --out"),
        ("segment photo.png --scores scores.npy", "mixfield.apps.solve_field", "--modes 1"),
        ("fit annotated", "mixfield.apps.fitting.fit", "no model was written"),
        ("track modes", "mixfield.track", "no tracks were written"),
        ("report posterior.npz", "mixfield.reports.results.report_page", "no page was written"),
        ("solve model.uai", "mixfield.read_uai", "the same command again"),
    ],
)
@pytest.mark.usefixtures("inputs")
def test_ctrl_c_in_every_verb(command, work, says, monkeypatch):
    monkeypatch.setattr(work, interrupted, raising=False)
    done = CliRunner().invoke(app, command.split())
    assert done.exit_code == 130, done.output
    assert "mixfield: stopped" in done.output
    assert says in done.output
    assert Path("kept.npz").exists() == ("kept.npz" in command)  # what was finished is there


def options(command) -> set[str]:
    return {option for entry in command.params for option in entry.opts}


def test_json_everywhere_and_seeds_and_threads_where_they_act():
    offered = {name: options(command) for name, command in COMMANDS.items()}
    assert all("--json" in found for found in offered.values())
    assert {name for name, found in offered.items() if "--seed" in found} == {
        "demo",
        "solve",
        "segment",
        "fit",
        "video",
    }
    assert {name for name, found in offered.items() if "--threads" in found} == {
        "demo", "solve", "segment", "fit", "video", "detect",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("typed", "offered"),
    [("mixfield ", {"demo", "solve", "segment", "fit", "video", "detect", "track", "report"}),
     ("mixfield solve --", {"--modes", "--exact", "--json"})],
)  # fmt: skip
def test_bash_completion(typed, offered):
    environment = os.environ | {
        "_MIXFIELD_COMPLETE": "complete_bash",
        "COMP_WORDS": typed,
        "COMP_CWORD": str(len(typed.split()) - (not typed.endswith(" "))),
    }
    words = [str(Path(sys.executable).with_name("mixfield"))]
    done = subprocess.run(words, env=environment, capture_output=True, text=True)
    assert offered <= set(done.stdout.split())
