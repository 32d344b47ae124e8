"""Means over instances, and what the paper claims about them."""

from __future__ import annotations

import numpy as np
import pytest

from experiments.synthetic.methods import BASELINE, COLLAPSED, DEFAULT, MATCHED, RULES
from experiments.synthetic.summary import TRUE_KL, restarts_of, standard_errors, summarise


@pytest.mark.parametrize("rule", [name for name in RULES if name.startswith("OURS")])
def test_ours_is_below_the_baseline_at_every_number_of_modes(summaries, rule):
    """The paper's claim, on the true KL; `mf.infer` is below the paper's own rules with all modes.

    Strict cuts (L = 1) never lower the bound; soft ones (fewer than 3 of 3) may, by the cost of their constraints.
    """
    for entry in summaries:
        assert entry.measure == TRUE_KL
        ours, baseline = (np.array(entry.curves[name]["mean"]) for name in (rule, BASELINE))
        assert (ours < baseline).all()
        assert entry.curves[DEFAULT]["mean"][-1] < ours[-1]
        assert (np.diff(ours) < (1e-9 if rule.endswith("1") else 0.1)).all()


def test_ours_is_below_restarts_with_as_much_compute(summaries):
    """Sweeps are counted, so this does not depend on the machine."""
    for entry in summaries:
        for name in MATCHED:
            restarts = entry.curves[restarts_of(name, "equal_sweeps")]["mean"]
            assert entry.curves[name]["mean"][-1] < restarts[-1]


def test_collapsed_mean_fields_are_below_all_others(summaries):
    for entry in summaries:
        collapsed = np.array(entry.curves[COLLAPSED]["mean"])
        assert (collapsed < np.array(entry.curves[DEFAULT]["mean"])).all()


def _without(row, method):
    return {**row, "curves": {name: curve for name, curve in row["curves"].items() if name != method}}


def test_collapsed_mean_fields_of_some_instances(rows):
    """Where log Z is known, the mean over these; else the mean difference is added to the mean of all."""
    mine = [row for row in rows if row["family"]["size"] == 7 and not row["family"]["attractive"]]
    known = [*mine[:2], _without(mine[2], COLLAPSED)]
    unknown = [{**row, "exact_log_z": None} for row in known]
    exact, gain, none = (summarise(r)[0] for r in (known, unknown, [_without(row, COLLAPSED) for row in mine]))
    bounds = np.array([row["curves"][COLLAPSED]["log_z"] for row in mine[:2]])
    log_z = np.array([[row["exact_log_z"]] for row in mine[:2]])
    np.testing.assert_allclose(exact.curves[COLLAPSED]["mean"], (log_z - bounds).mean(0))
    differences = bounds - [row["curves"][DEFAULT]["log_z"] for row in mine[:2]]
    expected = np.array(gain.curves[DEFAULT]["mean"]) + differences.mean(0)
    np.testing.assert_allclose(gain.curves[COLLAPSED]["mean"], expected)
    assert gain.curves[COLLAPSED]["standard_error"][-1] > gain.curves[DEFAULT]["standard_error"][-1]
    assert (exact.n_collapsed, none.n_collapsed) == (2, 0)
    assert np.isnan(none.curves[COLLAPSED]["mean"]).all()


def test_standard_errors():
    assert standard_errors(np.array([[1.0, 5.0], [3.0, 5.0]])) == [1.0, 0.0]
    assert np.isnan(standard_errors(np.ones((1, 3)))).all()


def test_json_has_no_arrays(summaries):
    entry = summaries[0].as_json()
    assert entry["name"] == "7x7-mixed-grid-mmmf"
    assert entry["instances"] == [0, 1, 2]
    assert "log_z" not in entry
    assert (entry["size"], entry["attractive"]) == (7, False)
