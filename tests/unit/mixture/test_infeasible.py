"""Models without a feasible state: no answer looks like one."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import mixfield as mf
from mixfield.errors import FewerModesWarning, InfeasibleError, InfeasibleWarning
from mixfield.mixture import tree

DIFFERENT = np.array([[np.inf, 0.0], [0.0, np.inf]])

GRAPHS = {
    # 0 - 1     two labels, neighbours differ: a triangle has no such state
    #  \ /
    #   2
    "triangle": lambda: mf.FactorGraph.from_pairwise(np.zeros((3, 2)), [(0, 1), (1, 2), (0, 2)], DIFFERENT),
    "edge": lambda: mf.FactorGraph.from_pairwise(np.zeros((2, 2)), [(0, 1)], np.full((1, 2, 2), np.inf)),
    "three variables": lambda: mf.FactorGraph.from_factors([2, 2, 2], [((0, 1, 2), np.full((2, 2, 2), np.inf))]),
}


@pytest.fixture(params=GRAPHS)
def infeasible(request):
    return GRAPHS[request.param]()


def _quietly(call):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InfeasibleWarning)
        warnings.simplefilter("ignore", FewerModesWarning)
        return call()


def test_exact_says_so(infeasible):
    with pytest.raises(InfeasibleError, match="every state has infinite cost"):
        mf.exact(infeasible)


@pytest.mark.parametrize("restarts", [1, 3])
def test_mean_field_warns(infeasible, restarts):
    with pytest.warns(InfeasibleWarning, match="forbidden states"):
        mode = mf.mean_field(infeasible, restarts=restarts)
    assert mode.log_z == -np.inf
    assert np.isfinite(mode.marginals).all()


@pytest.mark.parametrize("restarts", [1, 3])
def test_a_mean_field_on_forbidden_states_has_not_converged(infeasible, restarts):
    mode = _quietly(lambda: mf.mean_field(infeasible, restarts=restarts))
    assert not mode.converged


@pytest.mark.filterwarnings("ignore::mixfield.errors.FewerModesWarning")
@pytest.mark.parametrize("n_modes", [1, 4])
def test_infer_warns_and_its_numbers_are_numbers(infeasible, n_modes, tmp_path):
    with pytest.warns(InfeasibleWarning, match="forbidden states"):
        posterior = mf.infer(infeasible, n_modes)
    assert posterior.log_z == -np.inf
    np.testing.assert_allclose(posterior.weights.sum(), 1.0)
    assert np.isfinite(posterior.marginals()).all()
    posterior.save(tmp_path / "a.npz")
    assert mf.load(tmp_path / "a.npz").log_z == -np.inf


@pytest.mark.parametrize("n_modes", [1, 4])
def test_infer_notes_that_nothing_feasible_was_found(infeasible, n_modes):
    posterior = _quietly(lambda: mf.infer(infeasible, n_modes))
    assert not any(mode.converged for mode in posterior.modes)
    assert any("no state inside the hard constraints was found" in note for note in posterior.notes)
    assert any("every state has infinite cost" in note for note in posterior.notes)  # and it is proven


def test_what_is_not_proven_is_not_claimed(infeasible, monkeypatch):
    monkeypatch.setattr(tree, "contradiction", lambda _: None)
    notes = _quietly(lambda: mf.infer(infeasible, 1)).notes
    assert any("whether there is one is not known" in note for note in notes)
    assert not any("every state" in note for note in notes)
