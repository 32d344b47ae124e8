"""Labels for people."""

from __future__ import annotations

from collections.abc import Sequence


def label_name(label: int, names: Sequence[str]) -> str:
    """The name of a label, or its number if it has none."""
    return names[label] if label < len(names) else f"label {label}"
