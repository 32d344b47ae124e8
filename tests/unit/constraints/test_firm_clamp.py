"""Modes of dense fields held by a firm clamp, and released."""

from __future__ import annotations

import itertools
import warnings

import naive_dense
import numpy as np
import pytest
from dense_fields import leaves_at, modes_of, two_blobs
from scipy.ndimage import gaussian_filter

import mixfield as mf
from mixfield.constraints import firm_clamp
from mixfield.constraints.cardinality import Cardinality
from mixfield.constraints.cell import Cell
from mixfield.constraints.firm_clamp import _ClampedModes
from mixfield.constraints.solution import CellSolution
from mixfield.criteria.leaf import Proposal
from mixfield.errors import FewerModesWarning, MixfieldError, NotConvergedWarning
from mixfield.solvers import solver_for
from mixfield.solvers.layout import Layout


def tiny():
    return mf.DenseCRF(np.random.default_rng(2).normal(scale=0.2, size=(3, 4, 2)), [mf.Gaussian(1.5, 6.0)])


@pytest.mark.parametrize(
    "clamp", [None, mf.constraints.FirmClamp(), mf.constraints.Clamp()], ids=["default", "firm", "multiplier"]
)
def test_the_criterion_of_the_paper_with_every_clamp(clamp):
    criterion = mf.criteria.PhaseTransition(pick=mf.criteria.DensestWindow(2))
    solver = mf.Solver(max_iterations=300)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConvergedWarning)
        found = modes_of(tiny(), 3, criterion=criterion, clamp=clamp, solver=solver)
    assert len(found.modes) > 1
    for mode in found.modes:
        assert mode.mass_inside >= 1 - 1e-4 * len(mode.constraints)
    x = np.array(list(itertools.product(range(2), repeat=12)))
    assert (leaves_at(found, x).sum(0) == 1).all()
    assert found.log_z <= naive_dense.log_z(tiny()) + 1e-2


@pytest.mark.parametrize("epsilon", [0.0, 0.5, -1.0, np.nan])
def test_epsilon_of_a_firm_clamp(epsilon):
    with pytest.raises(MixfieldError, match="epsilon"):
        mf.constraints.FirmClamp(epsilon=epsilon)


def test_a_clamp_that_holds_nothing_finds_nothing():
    """Every option is used: without any push no mode gets to the other side."""
    with pytest.warns(FewerModesWarning):
        found = mf.infer(two_blobs(), 4, clamp=mf.constraints.FirmClamp(firmness=1e-9))
    assert len(found.modes) == 1
    assert len(modes_of(two_blobs(), clamp=mf.constraints.FirmClamp(steps=20, grips=(), patience=40)).modes) == 4


class Box:
    """At least half of a box takes label 1."""

    def propose(self, leaf):
        inside = np.zeros(leaf.energy.shape, bool)
        inside[6:16, 8:20] = True
        group = np.flatnonzero(inside)
        yield Proposal(Cardinality(group, np.full(len(group), 1), len(group) // 2))


@pytest.mark.parametrize("cost", [0.2, 0.8])
def test_a_mode_that_leaves_slowly_is_held(cost):
    """A box of the wrong label shrinks from its rim: a few updates do not tell whether it will stay."""
    unary = np.zeros((24, 32, 2))
    unary[..., 1] = cost
    found = mf.infer(mf.DenseCRF(unary, [mf.Gaussian(1.5, 4.0)], negligible=0), 2, criterion=Box())
    assert len(found.modes) == 2
    assert found.modes[1].labeling()[6:16, 8:20].mean() > 0.5


def test_a_clamp_without_release():
    """The box stays full; released, its rim gives way, and the bound is higher."""
    unary = np.zeros((24, 32, 2))
    unary[..., 1] = 1.5
    crf = mf.DenseCRF(unary, [mf.Gaussian(1.5, 4.0)], negligible=0)
    held = mf.infer(crf, 2, criterion=Box(), clamp=mf.constraints.FirmClamp(release=False)).modes[1]
    released = mf.infer(crf, 2, criterion=Box()).modes[1]
    assert (held.labeling()[6:16, 8:20] == 1).all()
    assert held.mass_inside >= 1 - 1e-4
    assert released.labeling()[6:16, 8:20].sum() < held.labeling()[6:16, 8:20].sum()
    assert released.log_z > held.log_z


def test_modes_that_are_held_can_be_cut_again():
    """Constraints met again on a longer path keep the multipliers that hold them; without them 8 modes are found."""
    unary = gaussian_filter(np.random.default_rng(1).normal(size=(24, 32, 3)), (2, 2, 0))
    found = mf.infer(mf.DenseCRF(unary / unary.std(), [mf.Gaussian(2.0, 4.0)], negligible=0), 10)
    assert len(found.modes) == 10
    assert max(sum(c.sign < 0 for c in mode.constraints) for mode in found.modes) >= 2


def _root(crf):
    """A solver and the mean field of the whole field, as the tree has them."""
    solver = solver_for(crf).with_buffers()
    values, log_z, run = solver.from_unaries()
    q = Layout(crf, 1).unpack(values)
    return solver, CellSolution(q, log_z, run.converged, run.iterations)


def _blob_cells(crf):
    """At least half of each blob of `two_blobs` takes the label that it does not have in the mean field."""
    solver, root = _root(crf)
    labels = root.q[0].argmax(1).reshape(crf.shape)
    cells = []
    for place in ((slice(4, 12), slice(4, 12)), (slice(8, 20), slice(20, 28))):
        inside = np.zeros(crf.shape, bool)
        inside[place] = True
        group = np.flatnonzero(inside)
        other = 1 - int(labels[place][0, 0])
        cells.append(Cell(solver.allowed).cut(Cardinality(group, np.full(len(group), other), len(group) // 2)))
    return solver, root, cells


def test_cells_of_a_batch_are_solved_as_if_alone():
    solver, root, cells = _blob_cells(two_blobs())
    clamp = mf.constraints.FirmClamp()
    batch = clamp.solve_in_cells(solver, cells, root)
    for cell, found in zip(cells, batch, strict=True):
        assert cell.mass(found.q[0]) >= 1 - 1e-4
        (alone,) = clamp.solve_in_cells(solver, [cell], root)
        assert np.array_equal(alone.q.argmax(-1), found.q.argmax(-1))
        assert found.log_z[0] == pytest.approx(alone.log_z[0], abs=0.05)
        assert found.log_z[0] == pytest.approx(solver.bounds(found.q.astype(float))[0], abs=1e-2)
    assert len({found.serial for found in batch}) == len(batch)


def test_labels_that_are_not_accepted_are_given_up():
    solver, root, cells = _blob_cells(two_blobs())
    asked = []

    def accept(labels):
        asked.append(labels.copy())
        return len(asked) > 1

    first, second = mf.constraints.FirmClamp().solve_in_cells(solver, cells, root, accept=accept)
    assert first is None
    assert second is not None
    assert [labels.shape for labels in asked] == [(768,)] * 2
    (alone,) = mf.constraints.FirmClamp().solve_in_cells(solver, cells[1:], root)
    np.testing.assert_allclose(second.q, alone.q, rtol=0, atol=1e-2)


def test_costs_of_multipliers_are_those_of_the_last_ones_set():
    """After other multipliers and after a part of the modes was taken, as if they had been the first."""
    solver, root, cells = _blob_cells(two_blobs())
    fresh, used = (_ClampedModes(solver, cells, root) for _ in range(2))
    fresh._set_multipliers(np.array([0.5, 2.0]))
    used._set_multipliers(np.array([7.0, -3.0]))
    part = used.only(np.array([1]))
    used._set_multipliers(np.array([0.5, 2.0]))
    np.testing.assert_array_equal(used.bias, fresh.bias)
    part._set_multipliers(np.array([2.0]))
    np.testing.assert_array_equal(part.bias[..., 0], fresh.bias[..., 1])
    last = cells[0].last_soft
    expected = -0.5 * last.sign
    fresh._set_multipliers(np.zeros(2))
    np.testing.assert_allclose(used.bias[last.group, last.labels, 0] - fresh.bias[last.group, last.labels, 0], expected)


def test_modes_that_are_all_outside_are_not_solved_to_the_end(monkeypatch):
    solver, root, cells = _blob_cells(two_blobs())
    held = _ClampedModes(solver, cells, root)
    monkeypatch.setattr(firm_clamp, "ROUND", 1)
    short, long = (
        held.converge(held.start, np.full(2, 3.0), 50, lambda _, __, moving, each=each: each and len(moving) > 0)[1]
        for each in (False, True)
    )
    assert (short.iterations <= 1).all()
    assert long.iterations.max() > 1


def test_held_modes_remember_their_multipliers():
    solver, root, cells = _blob_cells(two_blobs())
    held = mf.constraints.FirmClamp(release=False).solve_in_cells(solver, cells, root)
    free = mf.constraints.FirmClamp().solve_in_cells(solver, cells, root)
    for cell, one, other in zip(cells, held, free, strict=True):
        identity = cell.constraints[-1].identity
        assert one.multipliers[identity] == pytest.approx(4.0 * 2 * solver.critical_temperature())
        assert other.multipliers[identity] < one.multipliers[identity]


def test_cells_with_forbidden_labels_start_from_what_they_allow():
    """A cell that forces a blob, beside one that does not: each has the mode that it has alone."""
    solver, root, (first, second) = _blob_cells(two_blobs())
    group = second.constraints[-1].group
    forced = Cell(solver.allowed).cut(Cardinality(group, second.constraints[-1].labels, len(group)))
    assert forced.is_strict
    clamp = mf.constraints.FirmClamp(steps=1)
    batch = clamp.solve_in_cells(solver, [forced, first], root)
    for cell, found in zip((forced, first), batch, strict=True):
        (alone,) = clamp.solve_in_cells(solver, [cell], root)
        np.testing.assert_allclose(found.q, alone.q, rtol=0, atol=1e-3)
    assert (batch[0].q[0, group, second.constraints[-1].labels] == 1.0).all()
