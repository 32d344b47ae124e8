"""Many modes of dense fields: each in its cell, together a partition, below log Z."""

from __future__ import annotations

import naive_dense
import numpy as np
import pytest
from dense_fields import CRITERIA, leaves_at, modes_of, two_blobs

import mixfield as mf
from mixfield.constraints.cardinality import Cardinality
from mixfield.constraints.cell import Cell
from mixfield.constraints.solution import CellSolution
from mixfield.errors import FewerModesWarning
from mixfield.mixture import start_tree
from mixfield.mixture.dense_finder import DenseModeFinder, _key, _pushed
from mixfield.solvers import solver_for


@pytest.fixture(scope="module", params=CRITERIA)
def posterior(request):
    return modes_of(two_blobs(), criterion=CRITERIA[request.param])


def test_weights_and_marginals_sum_to_one(posterior):
    assert len(posterior.modes) > 1
    assert posterior.weights.sum() == pytest.approx(1.0)
    assert (np.diff(posterior.weights) <= 0).all()
    assert posterior.marginals().sum(-1) == pytest.approx(np.ones((24, 32)), abs=1e-5)
    assert posterior.log_z >= posterior.modes[0].log_z


def test_modes_live_in_their_cells(posterior):
    for mode in posterior.modes:
        assert mode.mass_inside >= 1 - 1e-4 * len(mode.constraints)
        assert mode.mass_inside == pytest.approx(sampled_mass(mode), abs=5e-3)


def sampled_mass(mode):
    """Share of draws from a mode in which its constraints hold."""
    rng = np.random.default_rng(0)
    cumulative = np.cumsum(mode.marginals.reshape(-1, mode.marginals.shape[-1]), -1)
    draws = (rng.random((2000, len(cumulative), 1)) * cumulative[:, -1:] >= cumulative).sum(-1)
    return np.all([c.holds(draws) for c in mode.constraints], axis=0).mean()


def test_log_z_is_the_bound_of_each_mode(posterior):
    crf = two_blobs()
    for mode in posterior.modes:
        bound = naive_dense.entropy(mode.marginals) - float(crf.expected(mode.marginals))
        assert mode.log_z == pytest.approx(bound, abs=1e-3)


def test_constraints_partition_the_labelings(posterior):
    rng = np.random.default_rng(0)
    shares = rng.random((300, 1))
    x = (rng.random((300, 24 * 32)) < shares).astype(int)
    assert (leaves_at(posterior, x).sum(0) == 1).all()
    labelings = posterior.labelings().reshape(len(posterior.modes), -1)
    assert np.array_equal(leaves_at(posterior, labelings), np.eye(len(posterior.modes), dtype=bool))


def test_one_mode_is_the_mean_field():
    crf = two_blobs()
    assert mf.infer(crf, 1).modes[0].log_z == pytest.approx(mf.mean_field(crf).log_z, abs=1e-3)


def test_the_same_seed_gives_the_same_bytes():
    one, other = (modes_of(two_blobs(), rng=5) for _ in range(2))
    assert [m.marginals.tobytes() for m in one.modes] == [m.marginals.tobytes() for m in other.modes]
    assert one.log_z == other.log_z


def test_a_field_without_a_transition_has_one_mode():
    crf = mf.DenseCRF(np.random.default_rng(0).normal(size=(6, 7, 2)), [mf.Gaussian(2.0, 1.5)])
    with pytest.warns(FewerModesWarning, match="single mode"):
        assert len(mf.infer(crf, 4).modes) == 1


def test_no_kernels_no_modes():
    with pytest.warns(FewerModesWarning):
        assert len(mf.infer(mf.DenseCRF(np.zeros((6, 7, 2)), []), 4).modes) == 1


@pytest.mark.parametrize("criterion", ["default", "paper", "alone", "near"])
@pytest.mark.parametrize("seed", range(4))
def test_log_z_stays_below_the_exact_one(seed, criterion):
    rng = np.random.default_rng(seed)
    crf = mf.DenseCRF(rng.normal(scale=0.3, size=(3, 4, 2)), [mf.Gaussian(1.5, 6.0)], negligible=0)
    found = modes_of(crf, criterion=CRITERIA[criterion])
    exact = naive_dense.log_z(crf)
    assert found.log_z <= exact + 1e-2  # soft cuts hold up to epsilon log epsilon
    assert found.log_z >= mf.mean_field(crf).log_z - 1e-3
    if len(found.modes) > 1:
        assert found.log_z > exact - 3.0


@pytest.mark.parametrize("kind", ["per label", "full"])
def test_compatibilities_have_modes_too(kind):
    given = {"weight": [5.0, 6.0]} if kind == "per label" else {"weight": 5.0, "compatibility": 1.0 - np.eye(2)}
    crf = mf.DenseCRF(np.random.default_rng(0).normal(scale=0.1, size=(6, 7, 2)), [mf.Gaussian(3.0, **given)])
    found = modes_of(crf, 2)
    for mode in found.modes:
        assert mode.mass_inside >= 1 - 1e-4 * len(mode.constraints)
    assert found.weights.sum() == pytest.approx(1.0)


def test_volumes_and_points():
    rng = np.random.default_rng(0)
    for shape in ((4, 5, 6), (60,)):
        crf = mf.DenseCRF(rng.normal(scale=0.1, size=(*shape, 2)), [mf.Gaussian(3.0, 6.0)])
        found = modes_of(crf, 2)
        assert found.shape == shape
        assert all(mode.mass_inside >= 1 - 1e-4 * len(mode.constraints) for mode in found.modes)


@pytest.fixture
def parent_and_finder():
    """A field of a hundred pixels with two labels, whose mode has the first everywhere."""
    crf = mf.DenseCRF(np.zeros((10, 10, 2)), [mf.Gaussian(2.0, 3.0)])
    q = np.tile(np.array([0.9, 0.1], np.float32), (1, 100, 1))
    finder = DenseModeFinder(solver_for(crf), mf.constraints.FirmClamp(), distinct=0.9)
    finder._labelings.append(q[0].argmax(1))
    return CellSolution(q, np.zeros(1), np.ones(1, bool), np.ones(1, np.int32)), finder


def of_second_label(pixels, sign=1):
    return Cardinality(np.arange(*pixels), np.ones(1, np.int64), (pixels[1] - pixels[0]) // 2, sign)


@pytest.mark.parametrize(
    ("earlier", "cut", "promising"),
    [
        ([], (0, 40), True),
        ([(60, 80)], (0, 40), True),
        ([(0, 20)], (0, 40), False),  # fewer than half of these must have the label that all are pushed to
        ([(30, 60)], (0, 40), True),  # ten of these thirty may
        ([], (0, 6), True),  # with others that follow it may become a tenth
        ([], (0, 4), False),
    ],
)
def test_cuts_that_cannot_lead_to_a_new_mode_are_not_tried(earlier, cut, promising, parent_and_finder):
    parent, finder = parent_and_finder
    cell = Cell(np.ones((100, 2), bool))
    for pixels in earlier:
        cell = cell.cut(of_second_label(pixels, sign=-1))
    assert finder._may_be_new(cell.cut(of_second_label(cut)), parent.q[0], parent.q[0].argmax(1)) is promising


def test_a_group_that_loses_its_label_takes_the_next_best():
    q = np.array([[0.7, 0.2, 0.1], [0.1, 0.2, 0.7], [0.6, 0.1, 0.3], [0.6, 0.3, 0.1]])
    removed = Cardinality(np.array([0, 2]), np.zeros(1, np.int64), 1, -1)
    assert _pushed(q, q.argmax(1), removed).tolist() == [1, 2, 2, 0]
    assert _pushed(q, q.argmax(1), Cardinality(np.array([1, 2]), np.ones(1, np.int64), 1)).tolist() == [0, 1, 1, 0]


def test_what_is_prefetched_belongs_to_the_mode_that_it_was_cut_from():
    crf = two_blobs()
    tree = start_tree(crf, criterion=mf.criteria.MeltingWindows())
    finder, root = tree.finder, tree.nodes[0]
    proposal = next(iter(tree.criterion.propose(root.leaf)))
    finder.prefetch(root.leaf, root.solution, [proposal])
    sides = [root.leaf.cell.cut(side) for side in (proposal.constraint, proposal.constraint.opposite())]
    found = [finder.solve_in_cell(side, root.solution) for side in sides]
    assert sum(one is root.solution for one in found) == 1  # the parent's mode lives on one of the sides
    away = next(k for k, one in enumerate(found) if one is not root.solution)
    assert sides[away].mass(found[away].q[0]) >= 1 - 1e-4
    fresh = CellSolution(root.solution.q, root.solution.log_z, root.solution.converged, root.solution.iterations)
    finder._labelings.pop()  # the mode just found would not be new
    assert finder.solve_in_cell(sides[away], root.solution) is found[away]
    assert finder.solve_in_cell(sides[away], fresh) is None  # nothing was prefetched for this one


def test_cuts_are_prefetched_once_and_in_one_batch(monkeypatch):
    tree = start_tree(two_blobs(), criterion=mf.criteria.MeltingWindows())
    finder, root = tree.finder, tree.nodes[0]
    batches = []
    solve = type(finder.clamp).solve_in_cells

    def counted(clamp, solver, cells, parent, **options):
        batches.append(len(cells))
        return solve(clamp, solver, cells, parent, **options)

    monkeypatch.setattr(type(finder.clamp), "solve_in_cells", counted)
    proposals = list(tree.criterion.propose(root.leaf))
    for _ in range(2):
        finder.prefetch(root.leaf, root.solution, proposals)
    assert batches == [min(16, len(proposals))]
    assert batches[0] > 1


def test_a_batch_has_a_largest_size(monkeypatch):
    monkeypatch.setattr("mixfield.mixture.dense_finder.BATCH", 1)
    tree = start_tree(two_blobs(), criterion=mf.criteria.MeltingWindows())
    finder, root = tree.finder, tree.nodes[0]
    proposals = list(tree.criterion.propose(root.leaf))
    assert len(proposals) > 1
    finder.prefetch(root.leaf, root.solution, proposals)
    assert len(finder._prefetched) == 1


@pytest.mark.parametrize("threads", [1, 2])
def test_what_the_criterion_needs_is_computed_beside_the_root(threads):
    """With the same bytes as later; where nothing is cut it is not computed."""
    late, early, alone = (
        _builder_of(two_blobs(), threads=threads, to_cut=to_cut, t_max=t_max)
        for to_cut, t_max in ((False, None), (True, None), (True, 0.5))
    )
    heats = early.criterion.temperatures(early.solver)
    assert len(early._annealed._known) == len(heats)
    assert not late._annealed._known
    assert not alone._annealed._known
    roots = [tree.nodes[0] for tree in (late, early)]
    assert roots[0].solution.q.tobytes() == roots[1].solution.q.tobytes()
    later, sooner = (root.leaf.marginals_at(heats).tobytes() for root in roots)
    assert later == sooner


def _builder_of(crf, *, threads, to_cut, t_max):
    tree = start_tree(crf, solver=mf.Solver(threads=threads), t_max=t_max)
    tree.nodes.clear()
    tree.start(to_cut=to_cut)
    return tree


def test_a_cut_whose_other_side_has_no_mode_is_refused_at_once(parent_and_finder):
    parent, finder = parent_and_finder
    cell = Cell(np.ones((100, 2), bool)).cut(of_second_label((0, 40), sign=-1))
    assert finder.solve_in_cell(cell, parent) is parent
    finder._prefetched[_key(parent, cell.constraints[-1])] = None
    assert finder.solve_in_cell(cell, parent) is None
