"""Where compiled kernels are saved when Numba finds no folder.  A read-only installation: tests/faults."""

from __future__ import annotations

import logging
import os
import tempfile

import pytest
from numba.core import config

from mixfield.kernels import jit_cache


class Dispatcher:
    """A kernel that can only be saved in a folder that Numba is given."""

    folder = None

    def enable_caching(self):
        if not config.CACHE_DIR:
            raise RuntimeError("cannot cache function 'f': no locator available for file 'f.py'")
        self.folder = config.CACHE_DIR


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    """The system's temporary folder; Numba has no folder of its own."""
    monkeypatch.setattr(tempfile, "gettempdir", lambda: str(tmp_path))
    monkeypatch.setattr(config, "CACHE_DIR", "")
    jit_cache.temporary_folder.cache_clear()
    yield tmp_path
    jit_cache.temporary_folder.cache_clear()


def test_a_private_temporary_folder_with_one_log_line(temporary, caplog):
    kernels = [Dispatcher(), Dispatcher()]
    for kernel in kernels:
        jit_cache.enable_cache(kernel)
    (folder,) = temporary.iterdir()
    assert [kernel.folder for kernel in kernels] == [str(folder)] * 2
    assert config.CACHE_DIR == ""  # the kernels of other packages keep their folder
    (record,) = caplog.records
    assert record.levelno == logging.WARNING
    assert f"saved in {folder}" in record.message
    assert "NUMBA_CACHE_DIR" in record.message


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="users and modes are for POSIX systems")
@pytest.mark.parametrize("kind", ["writable by others", "a link", "of another user"])
def test_a_folder_of_another_user_is_not_trusted(temporary, monkeypatch, caplog, kind):
    folder = temporary / f"mixfield-kernels-{os.getuid()}"
    if kind == "a link":
        (temporary / "elsewhere").mkdir(mode=0o700)
        folder.symlink_to(temporary / "elsewhere")
    else:
        folder.mkdir(mode=0o700)
    if kind == "writable by others":
        folder.chmod(0o777)
    if kind == "of another user":
        monkeypatch.setattr(os, "getuid", lambda: int(folder.name.rpartition("-")[2]) + 1)
        folder.rename(folder.with_name(f"mixfield-kernels-{os.getuid()}"))
    kernel = Dispatcher()
    jit_cache.enable_cache(kernel)
    assert kernel.folder is None
    assert "not saved" in caplog.text


def test_without_a_temporary_folder_nothing_is_saved(temporary, monkeypatch, caplog):
    def nowhere():
        raise FileNotFoundError(2, "No usable temporary directory found")

    monkeypatch.setattr(tempfile, "gettempdir", nowhere)
    for kernel in (Dispatcher(), Dispatcher()):
        jit_cache.enable_cache(kernel)
        assert kernel.folder is None
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert not list(temporary.iterdir())


def test_the_next_process_uses_the_folder_without_a_warning(temporary, caplog):
    jit_cache.enable_cache(Dispatcher())
    caplog.clear()
    jit_cache.temporary_folder.cache_clear()
    kernel = Dispatcher()
    jit_cache.enable_cache(kernel)
    assert [kernel.folder] == [str(folder) for folder in temporary.iterdir()]
    assert not caplog.records


def test_a_user_without_a_home(temporary, monkeypatch):
    """Numba would create a folder called ~."""
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)
    monkeypatch.setattr(Dispatcher, "enable_caching", lambda self: setattr(self, "folder", config.CACHE_DIR or "~"))
    kernel = Dispatcher()
    jit_cache.enable_cache(kernel)
    (folder,) = temporary.iterdir()
    assert kernel.folder == str(folder)


def test_a_folder_that_numba_finds_is_used(monkeypatch, caplog, tmp_path):
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path))
    kernel = Dispatcher()
    jit_cache.enable_cache(kernel)
    assert kernel.folder == str(tmp_path)
    assert not caplog.records
