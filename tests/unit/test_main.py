"""``python -m mixfield``."""

from __future__ import annotations

import subprocess
import sys

import mixfield as mf


def run(*words):
    return subprocess.run([sys.executable, "-m", "mixfield", *words], capture_output=True, text=True, check=False)


def test_it_is_the_command_line():
    assert run("--version").stdout.strip() == mf.__version__
    assert {"demo", "solve", "segment", "video", "detect", "track", "report"} <= set(run("--help").stdout.split())


def test_bad_input_is_one_sentence():
    done = run("solve", "absent.uai")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "mixfield: absent.uai: no such file or directory\n"
