"""Claims of the paper, our measurements, and whether the two agree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from experiments.page import markdown_table


@dataclass(frozen=True)
class Claim:
    """One row of the table at the top of a page."""

    claim: str
    measured: str
    verdict: str


def table(claims: Sequence[Claim]) -> str:
    """The claims as a Markdown table."""
    heads = ("the claim", "our number", "verdict")
    return markdown_table(heads, [(c.claim, c.measured, f"**{c.verdict}**") for c in claims])


def confirmed(holds: bool) -> str:
    """The verdict on a claim that holds or does not."""
    return "confirmed" if holds else "not confirmed"


def verdict(count: int, total: int) -> str:
    """The verdict on a claim that holds in ``count`` of ``total`` cases."""
    if count == total:
        return "confirmed"
    if count > 0.8 * total:
        return "mostly confirmed"
    return "partly confirmed" if count >= 0.5 * total else "not confirmed"
