"""What is needed to repeat a measurement: command, versions, protocol."""

from __future__ import annotations

import platform
from importlib.metadata import version
from typing import Any

import mixfield


def provenance(command: str, **protocol: Any) -> dict[str, Any]:
    """The entry ``made_by`` of the results: command, versions and the settings in ``protocol``."""
    return {
        "command": command,
        "versions": {
            "mixfield": mixfield.__version__,
            "python": platform.python_version(),
            **{name: version(name) for name in ("numpy", "scipy", "numba")},
        },
        **protocol,
    }


def version_list(made_by: dict[str, Any]) -> str:
    """Names and versions of the packages, for the last line of a page."""
    return ", ".join(f"{name} {number}" for name, number in made_by["versions"].items())
