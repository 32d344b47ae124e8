"""Nothing in the package assumes Linux: what only some systems have is used where a test takes it away.

Taken away elsewhere: `fcntl` and `msvcrt` in batch/test_file_lock.py, signal masks in batch/test_interrupts.py, SIGKILL
in batch/test_processes.py, the fork server in batch/test_dask_client.py, core affinity in batch/test_threads.py.
"""

from __future__ import annotations

import ast
import mmap
import os
import tempfile
from pathlib import Path

import numpy as np
import pytest

import mixfield
from mixfield import _files
from mixfield.energy.active_labels import restored
from mixfield.kernels import jit_cache

ROOT = Path(mixfield.__file__).parent
TREES = {path.relative_to(ROOT).as_posix(): ast.parse(path.read_text("utf-8")) for path in ROOT.rglob("*.py")}

POSIX_MODULES = {"fcntl", "grp", "posix", "pty", "pwd", "resource", "syslog", "termios", "tty"}
PORTABLE = {
    "os": {
        "PathLike", "SEEK_CUR", "SEEK_END", "SEEK_SET", "_exit", "cpu_count", "environ", "fspath", "fstat", "getpid",
        "open", "path", "pathsep", "replace", "scandir", "stat", "stat_result",
    },
    "signal": {"SIGINT", "SIG_IGN", "default_int_handler", "getsignal", "raise_signal", "signal"},
    "mmap": {"mmap"},
}  # fmt: skip
TESTED = {
    ("_threads.py", "os.sched_getaffinity"),
    ("batch/file_lock.py", "fcntl"),
    ("batch/interrupts.py", "signal.SIG_BLOCK"),
    ("batch/interrupts.py", "signal.SIG_SETMASK"),
    ("batch/interrupts.py", "signal.pthread_sigmask"),
    ("energy/active_labels.py", "mmap.MAP_ANONYMOUS"),
    ("energy/active_labels.py", "mmap.MAP_PRIVATE"),
    ("kernels/jit_cache.py", "os.getuid"),
}


def imported(node):
    if isinstance(node, ast.Import):
        return {alias.name.partition(".")[0] for alias in node.names}
    if isinstance(node, ast.ImportFrom):
        return {(node.module or "").partition(".")[0]}
    return set()


def special(tree):
    """Names in a file that some systems lack."""
    for node in ast.walk(tree):
        yield from imported(node) & POSIX_MODULES
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            module = node.value.id
            if node.attr not in PORTABLE.get(module, {node.attr}):
                yield f"{module}.{node.attr}"


def test_every_special_name_has_a_test_without_it():
    found = {(file, name) for file, tree in TREES.items() for name in special(tree)}
    assert found <= TESTED


@pytest.mark.parametrize("code", ["import resource", "os.fork()", "os.kill(1, 2)", "signal.SIGKILL", "mmap.MADV_FREE"])
def test_special_names_are_recognized(code):
    assert list(special(ast.parse(code)))


def test_no_paths_of_linux():
    texts = {
        (file, node.value)
        for file, tree in TREES.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    assert not [found for found in texts if found[1].startswith(("/dev", "/proc", "/sys", "/tmp", "/usr"))]


def reads_text(call):
    """Whether a call opens a file as text in the encoding of the system."""
    if any(keyword.arg == "encoding" for keyword in call.keywords):
        return False
    if isinstance(call.func, ast.Name) and call.func.id == "open":
        mode = call.args[1].value if len(call.args) > 1 else "r"
        return "b" not in mode
    named = isinstance(call.func, ast.Attribute) and call.func.attr in ("read_text", "write_text")
    return named and not (isinstance(call.func.value, ast.Name) and call.func.value.id == "_files")


def test_texts_have_an_encoding():
    calls = ((file, node) for file, tree in TREES.items() for node in ast.walk(tree) if isinstance(node, ast.Call))
    assert not [(file, call.lineno) for file, call in calls if reads_text(call)]


def test_a_system_without_private_mappings(monkeypatch):
    for name in ("MAP_PRIVATE", "MAP_ANONYMOUS"):
        monkeypatch.delattr(mmap, name, raising=False)
    found = restored(np.full((3, 2), 0.5), np.array([0, 2]), 4)
    np.testing.assert_array_equal(found, np.full((3, 1), 0.5) * [[1, 0, 1, 0]])


def test_a_system_without_user_numbers(monkeypatch, tmp_path):
    monkeypatch.delattr(os, "getuid", raising=False)
    monkeypatch.setattr(tempfile, "gettempdir", lambda: str(tmp_path))
    assert jit_cache._private_folder() == str(tmp_path / "mixfield-kernels-None")


def test_a_system_without_opening_pipes_at_once(monkeypatch, tmp_path):
    monkeypatch.delattr(os, "O_NONBLOCK", raising=False)
    (tmp_path / "a.txt").write_text("text")
    descriptor = _files._open_without_blocking(str(tmp_path / "a.txt"), os.O_RDONLY)
    with os.fdopen(descriptor) as file:
        assert file.read() == "text"
