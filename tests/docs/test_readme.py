"""What the README promises beyond its code blocks, which `test_documentation` runs."""

from __future__ import annotations

from pathlib import Path

README = Path(__file__).parents[2] / "README.md"


def test_the_first_command_is_the_demo():
    text = README.read_text(encoding="utf-8")
    first = next(line for line in text.splitlines() if line.startswith("python3 -m venv"))
    assert first.endswith("mixfield demo")
    assert "[demo]" in first
