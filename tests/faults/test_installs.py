"""Installations that cannot be written, as in containers: read-only site-packages, no home, a user without rights."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path

import pytest
from faults.disks import as_unknown_user, may_change_user, without_privileges
from faults.results import images, run, segment

import mixfield

pytestmark = pytest.mark.skipif(
    os.geteuid() == 0 and not shutil.which("setpriv"), reason="root needs setpriv to respect permissions"
)

SOLVE = """
import tempfile, mixfield as mf
if {nowhere}:
    tempfile.gettempdir = lambda: "/nonexistent"
print(mf.exact(mf.FactorGraph.ising([0.5, 0.0], [(0, 1)], 1.0)).log_z)
"""


@pytest.fixture
def environment(tmp_path):
    """The variables of a container: a copy of the package that cannot be written, and no home."""
    site, home, temporary = tmp_path / "site", tmp_path / "home", tmp_path / "temporary"
    package = Path(mixfield.__file__).parent
    shutil.copytree(package, site / "mixfield", ignore=shutil.ignore_patterns("__pycache__"))
    temporary.mkdir()
    home.mkdir()
    folders = [home, site, *(path for path in site.rglob("*") if path.is_dir())]
    for folder in folders:
        folder.chmod(0o500)
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("NUMBA", "MIXFIELD", "XDG"))}
    yield kept | {"PYTHONPATH": str(site), "HOME": str(home), "TMPDIR": str(temporary), "NUMBA_DISABLE_JIT": "0"}
    for folder in folders:
        folder.chmod(0o700)


def python(environment, *words):
    return run(without_privileges([sys.executable, *map(str, words)]), env=environment)


def test_the_demo_runs_without_a_writable_package_and_home(environment, tmp_path):
    done = python(environment, "-m", "mixfield", "demo", "--out", tmp_path / "demo")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "demo" / "report.html").exists()
    said = [line for line in done.stderr.splitlines() if "kernels" in line]
    assert len(said) == 1
    assert said[0].startswith(f"compiled kernels are saved in {tmp_path}/temporary/mixfield-kernels-")
    assert list((tmp_path / "temporary").glob("mixfield-kernels-*/*/*.nbc"))


@pytest.fixture
def short_folder():
    """A temporary folder with a short path: sockets of workers take about a hundred characters."""
    folder = Path(tempfile.mkdtemp(prefix="m"))
    yield folder
    shutil.rmtree(folder)


@pytest.mark.parametrize("engine", ["processes", "dask"])
def test_workers_do_not_repeat_the_warning(environment, tmp_path, short_folder, engine):
    pictures, scores = images(tmp_path, 4)
    command = segment(pictures, scores, tmp_path / "o", "--engine", engine, "--workers", 2)
    done = run(without_privileges(command), env=environment | {"TMPDIR": str(short_folder)})
    assert done.returncode == 0, done.stderr
    assert [line.partition(" in ")[0] for line in done.stderr.splitlines()] == ["compiled kernels are saved"]


@pytest.mark.skipif(not may_change_user(), reason="only root may become another user")
def test_a_user_without_a_home(environment, tmp_path):
    """Numba would create a folder called ~ in the working directory."""
    folders = [tmp_path, *tmp_path.iterdir()]
    for folder in folders:
        folder.chmod(0o777)
    del environment["HOME"]
    done = run(as_unknown_user([sys.executable, "-c", SOLVE.format(nowhere=False)]), env=environment, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stderr.startswith(f"compiled kernels are saved in {tmp_path}/temporary/mixfield-kernels-")
    assert set(tmp_path.iterdir()) == set(folders[1:])


def test_a_cache_folder_that_is_given_is_used(environment, tmp_path):
    (tmp_path / "cache").mkdir()
    done = python(environment | {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}, "-c", SOLVE.format(nowhere=False))
    assert (done.returncode, done.stderr) == (0, "")
    assert list((tmp_path / "cache").glob("*/*.nbc"))
    assert not list((tmp_path / "temporary").glob("mixfield-*"))


def test_without_any_cache_folder_kernels_are_not_saved(environment):
    done = python(environment, "-c", SOLVE.format(nowhere=True))
    assert done.returncode == 0, done.stderr
    assert done.stderr.startswith("compiled kernels are not saved")
    assert done.stderr.count("\n") == 1
