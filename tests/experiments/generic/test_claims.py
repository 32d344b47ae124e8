"""The verdicts on the claims."""

from __future__ import annotations

from experiments.generic.claims import claims


def test_exceptions_are_named(models):
    found = claims(models)
    assert [claim.measured for claim in found] == [
        "on 1 of 2 models, not on B",
        "on 2 of 2 models",
        "on 2 of 2 models",
        "on 1 of 2 models, not on B",
        "on 1 of 2 models, not on B",
    ]
    assert [claim.verdict for claim in found][:2] == ["partly confirmed", "confirmed"]


def test_slower_answers_are_not_confirmed(models):
    (first, _) = models
    for row in first["rows"]:
        row["seconds"] = 9.0 if row["method"].startswith("m") else row["seconds"]
    assert claims([first])[2].verdict == "not confirmed"
