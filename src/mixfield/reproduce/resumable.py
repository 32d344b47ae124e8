"""Experiments that go on where they were stopped."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mixfield.errors import MixfieldError

Row = dict[str, Any]


@dataclass(frozen=True)
class Run:
    """A file of results, one line of JSON for each."""

    path: Path

    def rows(self) -> list[Row]:
        """What is there; a last line cut short by a stop is left out."""
        if not self.path.is_file():
            return []
        lines = self.path.read_text(encoding="utf-8").splitlines()
        return [json.loads(line) for line in lines if line.endswith("}")]

    def checked(self) -> list[Row]:
        """The same, or a complaint if there is nothing."""
        rows = self.rows()
        if not rows:
            raise MixfieldError(f"{self.path} holds no results; run without --page-only first")
        return rows

    def add(self, row: Row) -> None:
        """One more result."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")
