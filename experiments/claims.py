"""What the paper says, what we measured, and whether the two agree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Claim:
    """One line of the table that every page begins with."""

    claim: str
    measured: str
    verdict: str


def table(claims: Sequence[Claim]) -> list[str]:
    """The claims as lines of Markdown."""
    rows = [f"| {c.claim} | {c.measured} | **{c.verdict}** |" for c in claims]
    return ["| the claim | our number | verdict |", "|---|---|---|", *rows]


def verdict(part: int, total: int) -> str:
    """In words: in how many of the cases a claim held."""
    if part == total:
        return "confirmed"
    return "mostly confirmed" if part > 0.8 * total else "partly confirmed" if part >= 0.5 * total else "not confirmed"
