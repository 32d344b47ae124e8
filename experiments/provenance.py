"""What a page must say for its numbers to be found again: the command, the versions, the seeds."""

from __future__ import annotations

import platform
from importlib.metadata import version
from typing import Any

import mixfield


def provenance(command: str, **protocol: Any) -> dict[str, Any]:
    """The first entry of every ``results``: how it was made."""
    return {
        "command": command,
        "versions": {
            "mixfield": mixfield.__version__,
            "python": platform.python_version(),
            **{name: version(name) for name in ("numpy", "scipy", "numba")},
        },
        **protocol,
    }
