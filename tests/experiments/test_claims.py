"""Verdicts and the table of claims."""

from __future__ import annotations

import pytest

from experiments.claims import Claim, confirmed, table, verdict


@pytest.mark.parametrize(
    ("count", "word"),
    [
        (10, "confirmed"),
        (9, "mostly confirmed"),
        (8, "partly confirmed"),
        (5, "partly confirmed"),
        (4, "not confirmed"),
    ],
)
def test_verdict(count, word):
    assert verdict(count, 10) == word


def test_confirmed():
    assert (confirmed(True), confirmed(False)) == ("confirmed", "not confirmed")


def test_table_has_a_row_per_claim():
    lines = table([Claim("a", "1", "confirmed"), Claim("b", "2", "open")]).splitlines()
    assert lines[2:] == ["| a | 1 | **confirmed** |", "| b | 2 | **open** |"]
