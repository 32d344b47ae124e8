"""Disks that are full or read-only, and users without rights; both need root."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
from contextlib import contextmanager


def may_mount():
    """Whether this user may mount a small disk in memory."""
    return (
        os.geteuid() == 0
        and subprocess.run(["unshare", "-m", "true"], capture_output=True, check=False).returncode == 0
    )


@contextmanager
def disk(folder, size, *options):
    """A disk in memory with a size in bytes."""
    folder.mkdir()
    flags = ",".join([f"size={size}", *options])
    subprocess.run(["mount", "-t", "tmpfs", "-o", flags, "tmpfs", str(folder)], check=True)
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def small_files():
    """``preexec_fn`` of a process: no file may grow beyond 64 kB."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (64_000, 64_000))


WITHOUT_PRIVILEGES = ["setpriv", "--bounding-set", "-dac_override,-dac_read_search"]  # root obeys permissions


def without_privileges(command):
    """A command that obeys permissions of files, also when root runs it."""
    return command if os.geteuid() else [*WITHOUT_PRIVILEGES, *command]


UNKNOWN = "54321"  # a user that has no name and no home
AS_UNKNOWN_USER = ["setpriv", f"--reuid={UNKNOWN}", f"--regid={UNKNOWN}", "--clear-groups"]
MAY_READ = ["--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search"]  # the interpreter may be in root's home


def may_change_user():
    """Whether this user may become another one that reads everything and writes nothing."""
    if os.geteuid() or not shutil.which("setpriv"):
        return False
    return subprocess.run(as_unknown_user(["true"]), capture_output=True, check=False).returncode == 0


def as_unknown_user(command):
    return [*AS_UNKNOWN_USER, *MAY_READ, *command]
