"""The verdicts on the claims of the appendix."""

from __future__ import annotations

from experiments.temperature.claims import claims
from experiments.temperature.measure import collect
from experiments.temperature.photos import synthetic_photo


def _claims(rows):
    return claims(collect(rows, synthetic_photo().reduced(20), {}))


def test_verdicts(temperature_rows):
    found = _claims(temperature_rows)
    assert [claim.verdict for claim in found] == [
        *["confirmed"] * 4,
        "not confirmed",  # the maximal entropy of model 3 stays below one bit
        "not confirmed: U/2",
        "not confirmed: the larger",
        "partly confirmed",  # one of two graphs splits above T_max
    ]
    assert "transition at T = 5.00 (0.0 % off)" in found[0].measured
    assert found[-1].measured.startswith("holds in 1 of 2 random graphs")


def test_a_late_transition_is_not_confirmed(temperature_rows):
    temperature_rows[0]["melts_at"]["mean"] = 5.5
    temperature_rows[1]["melts_at"] |= {"lowest_decile": 4.5, "highest_decile": 4.6}
    assert [claim.verdict for claim in _claims(temperature_rows)[:3]] == ["not confirmed"] * 3
