"""An exclusive lock on an open file, released by the system when the process ends, however it ends."""

from __future__ import annotations

import os
from io import FileIO

# Windows locks are mandatory, so a byte beyond any content is locked and the content stays readable for other processes
_LOCK_OFFSET = 1 << 30


def lock(file: FileIO) -> bool:
    """Lock a file without waiting; False if another process holds the lock.

    ``fcntl`` on POSIX, ``msvcrt`` on Windows.  Systems and file systems without locks return True: nothing is checked.
    """
    try:
        import fcntl
    except ImportError:
        return _lock_windows(file)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks
        pass
    return True


def _lock_windows(file: FileIO) -> bool:
    try:
        import msvcrt
    except ImportError:
        return True
    position = file.tell()
    file.seek(_LOCK_OFFSET, os.SEEK_SET)
    try:
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]
    except PermissionError:
        return False
    except OSError:  # a file system without locks
        pass
    finally:
        file.seek(position, os.SEEK_SET)
    return True
