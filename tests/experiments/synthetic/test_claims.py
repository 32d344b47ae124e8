"""Comparisons of curves and the verdicts that follow."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from experiments.synthetic.claims import always_above, behind, claims, differences
from experiments.synthetic.methods import BASELINE

OURS = "OURS-MAXW, L = 1"


def test_where_a_method_is_behind_is_named(summaries, small_families, large_families):
    assert behind(summaries, OURS, BASELINE) == []
    found = behind(summaries, BASELINE, OURS)
    assert [words.split(", by")[0] for words in found] == [
        f"{family.name} at 1, 2, 4, 8" for family in small_families + large_families
    ]
    assert always_above(summaries, OURS, BASELINE) == len(summaries)
    assert always_above(summaries, BASELINE, OURS) == 0


def test_few_instances_have_no_clear_difference(summaries):
    assert all(error == np.inf for _, error in differences(summaries, OURS, BASELINE))
    assert all(mean > 0 for mean, _ in differences(summaries, OURS, BASELINE))


@pytest.mark.parametrize(("shift", "word"), [(1.0, "confirmed"), (-1.0, "not confirmed"), (0.0, "no clear difference")])
def test_clear_differences_decide(summaries, shift, word):
    noise = np.random.default_rng(0).normal(0, 0.1, (10, 4))
    curves = dict.fromkeys(summaries[0].log_z, np.zeros((10, 4))) | {"OURS-MAXW, L = 3": noise * bool(shift) + shift}
    families = [replace(entry, log_z=curves, instances=list(range(10))) for entry in summaries]
    verdicts = {claim.claim: claim.verdict for claim in claims(families)}
    assert verdicts["OURS-MAXW performs even better than OURS-RANDOM (L = 3)"] == word
    assert verdicts["OURS-MAXW performs even better than OURS-RANDOM (L = 1)"] == "no clear difference"
