"""Exact inference on models of the UAI 2014 competition, against its reference answers (six digits)."""

from __future__ import annotations

import math
import os
from pathlib import Path

import numpy as np
import pytest

from mixfield.elimination.junction_tree import exact
from mixfield.io import uai

DATA = Path(os.environ.get("MIXFIELD_DATA", Path(__file__).parents[3] / "shared" / "data")) / "uai" / "uai2014"
MODELS = sorted(DATA.glob("*.uai"))
SLOW = {"CSP_11", "DBN_13", "Grids_15", "Grids_17", "ObjectDetection_13", "ObjectDetection_14", "ObjectDetection_15"}
CASES = [pytest.param(m, id=m.stem, marks=[pytest.mark.slow] if m.stem in SLOW else []) for m in MODELS]

pytestmark = pytest.mark.skipif(not MODELS, reason=f"no UAI 2014 models in {DATA}; set MIXFIELD_DATA to their root")


def _beside(path: Path, kind: str) -> Path:
    return path.with_name(f"{path.name}.{kind}")


@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.stem)
def test_files_survive_a_round_trip(path, tmp_path):
    counts, factors = uai.parse_uai(path.read_text(), path.name)
    graph = uai.read_uai(path, _beside(path, "evid"))
    assert list(graph.label_counts) == counts
    uai.write_uai(tmp_path / "again.uai", graph)
    again = uai.read_uai(tmp_path / "again.uai")
    for (scope, table), (same_scope, same_table) in zip(graph.factors(), again.factors(), strict=True):
        assert same_scope == scope
        np.testing.assert_allclose(same_table, table, rtol=1e-15, atol=1e-15)
    assert len(factors) > 0


@pytest.mark.parametrize("path", CASES)
def test_log_z_and_marginals_are_the_reference(path):
    """The references are for the model with its evidence: log10 of the weight of all states that agree with it."""
    answer = exact(uai.read_uai(path, _beside(path, "evid")), memory=4e9)
    reference = _beside(path, "PR").read_text().split()[1]
    assert float(f"{answer.log_z / math.log(10):.6g}") == float(reference)
    if _beside(path, "MAR").exists():
        for row, probabilities in zip(answer.marginals, uai.read_mar(_beside(path, "MAR")), strict=True):
            np.testing.assert_allclose(row[: len(probabilities)], probabilities, rtol=0, atol=5.1e-7)
