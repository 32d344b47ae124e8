"""Disks that are full or read-only, for those who may mount them."""

from __future__ import annotations

import os
import resource
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
    """A disk in memory of so many bytes."""
    folder.mkdir()
    told = ",".join([f"size={size}", *options])
    subprocess.run(["mount", "-t", "tmpfs", "-o", told, "tmpfs", str(folder)], check=True)
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def small_files():
    """In a child, before it starts: no file may grow beyond 64 kB."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (64_000, 64_000))


WITHOUT_PRIVILEGES = ["setpriv", "--bounding-set", "-dac_override,-dac_read_search"]  # root like everybody


def as_everybody(command):
    """A command for which permissions of files count, also when root runs it."""
    return command if os.geteuid() else [*WITHOUT_PRIVILEGES, *command]
