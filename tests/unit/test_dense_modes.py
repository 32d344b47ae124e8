"""Many modes of dense fields: each in its cell, together a partition, below log Z."""

from __future__ import annotations

import itertools
import warnings

import naive_dense
import numpy as np
import pytest
from dense_fields import two_blobs
from scipy.ndimage import gaussian_filter

import mixfield as mf
from mixfield.constraints.cardinality import Cardinality
from mixfield.constraints.cell import Cell
from mixfield.constraints.solution import CellSolution
from mixfield.criteria.leaf import Proposal
from mixfield.energy.active_labels import active_labels
from mixfield.errors import FewerModesWarning, MixfieldError, NotConvergedWarning
from mixfield.mixture import Search
from mixfield.mixture.dense_finder import DenseModeFinder, _pushed
from mixfield.solvers import solver_for
from mixfield.solvers.dense_fixed_point import iterate
from mixfield.solvers.dense_update import DenseUpdate
from mixfield.solvers.layout import Layout


def modes_of(crf, n_modes=4, **options):
    """`mf.infer`, where fewer modes are fine too."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FewerModesWarning)
        return mf.infer(crf, n_modes, **options)


PAPER = mf.criteria.PhaseTransition(pick=mf.criteria.DensestWindow(8))
ALONE = mf.criteria.PhaseTransition(pick=mf.criteria.EntropyGap())
NEAR = mf.criteria.PhaseTransition(pick=mf.criteria.EntropyGap(radius=1))


@pytest.fixture(
    scope="module",
    params=[None, mf.criteria.MeltingWindows(), PAPER, ALONE, NEAR],
    ids=["default", "windows", "paper", "alone", "near"],
)
def posterior(request):
    return modes_of(two_blobs(), criterion=request.param)


def leaf_of(posterior, x):
    """Modes whose constraints hold at labelings (N, n), (K, N)."""
    return np.array([np.all([c.holds(x) for c in mode.constraints], axis=0) for mode in posterior.modes])


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
    assert (leaf_of(posterior, x).sum(0) == 1).all()
    labelings = posterior.labelings().reshape(len(posterior.modes), -1)
    assert np.array_equal(leaf_of(posterior, labelings), np.eye(len(posterior.modes), dtype=bool))


def test_the_tree_cuts_in_two(posterior):
    children = [node for node in posterior.tree if node.parent >= 0]
    for first, second in zip(children[::2], children[1::2], strict=True):
        assert first.parent == second.parent
        assert np.array_equal(first.constraint.group, second.constraint.group)
        assert first.constraint.count == second.constraint.count
        assert first.constraint.sign == -second.constraint.sign
        assert np.isnan(first.temperature) or first.temperature >= 1.0
    assert sorted(node.mode for node in posterior.tree if node.mode >= 0) == list(range(len(posterior.modes)))


def test_two_doubtful_blobs_make_four_readings():
    """Each blob on or off."""
    found = modes_of(two_blobs(), criterion=mf.criteria.MeltingWindows())
    assert len(found.modes) == 4
    first, second = found.labelings()[:, 8, 8], found.labelings()[:, 14, 24]
    assert len(set(zip(first.tolist(), second.tolist(), strict=True))) == 4
    assert all(mode.converged for mode in found.modes)


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


@pytest.mark.parametrize("criterion", [None, PAPER, ALONE, NEAR], ids=["windows", "paper", "alone", "near"])
@pytest.mark.parametrize("seed", range(4))
def test_log_z_stays_below_the_exact_one(seed, criterion):
    rng = np.random.default_rng(seed)
    crf = mf.DenseCRF(rng.normal(scale=0.3, size=(3, 4, 2)), [mf.Gaussian(1.5, 6.0)], negligible=0)
    found = modes_of(crf, criterion=criterion)
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


# ---------------------------------------------------------------- how modes are held


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
    assert (leaf_of(found, x).sum(0) == 1).all()
    assert found.log_z <= naive_dense.log_z(tiny()) + 1e-2


def test_a_firm_clamp_needs_a_dense_field(two_wells):
    with pytest.raises(MixfieldError, match="FirmClamp needs an attractive DenseCRF"):
        mf.infer(two_wells, 2, clamp=mf.constraints.FirmClamp())
    with pytest.raises(MixfieldError, match=r"FirmClamp needs an attractive DenseCRF and no search"):
        mf.infer(tiny(), 2, clamp=mf.constraints.FirmClamp(), search=Search())


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
def test_a_mode_that_slips_away_slowly_is_held(cost):
    """A box of the wrong label shrinks from its rim: a few updates do not tell whether it will stay."""
    unary = np.zeros((24, 32, 2))
    unary[..., 1] = cost
    found = mf.infer(mf.DenseCRF(unary, [mf.Gaussian(1.5, 4.0)], negligible=0), 2, criterion=Box())
    assert len(found.modes) == 2
    assert found.modes[1].labeling()[6:16, 8:20].mean() > 0.5


def test_a_clamp_that_does_not_let_go():
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


def test_windows_have_options():
    assert len(modes_of(two_blobs(), criterion=mf.criteria.MeltingWindows(smallest=0.9)).modes) == 1
    assert len(modes_of(two_blobs(), criterion=mf.criteria.MeltingWindows(tries=1)).modes) > 1
    few = modes_of(two_blobs(), 2, criterion=mf.criteria.MeltingWindows(shares=(0.1,)))
    many = modes_of(two_blobs(), 2, criterion=mf.criteria.MeltingWindows(shares=(0.6,)))
    assert len(few.modes[0].constraints[0].group) < len(many.modes[0].constraints[0].group)


# ---------------------------------------------------------------- labels that are left out


def test_labels_left_out_come_back():
    """Label 0 and 1 become 3 and 1 of five; the others can never matter."""
    crf = two_blobs(n_labels=5)
    turn = np.array([2, 1, 3, 0, 4])
    turned = mf.DenseCRF(crf.unary[..., turn], [mf.Gaussian(1.0, 0.5), *pictures()])
    assert active_labels(turned)[0].tolist() == [1, 3]
    found = modes_of(turned)
    assert len(found.modes) == 4
    assert found.marginals().shape == (24, 32, 5)
    for mode in found.modes:
        assert not mode.marginals[..., [0, 2, 4]].any()
        for constraint in mode.constraints:
            assert set(constraint.labels.tolist()) <= {1, 3}
            assert constraint.probability(mode.marginals.reshape(-1, 5)) >= 1 - 1e-4
    for node in found.tree[1:]:
        assert set(node.constraint.labels.tolist()) <= {1, 3}
    plain = modes_of(two_blobs())
    assert found.log_z == pytest.approx(plain.log_z, abs=1e-2)
    assert np.array_equal(found.labelings() == 1, plain.labelings() == 1)


def pictures():
    """The appearance kernel of `two_blobs`."""
    image = np.zeros((24, 32, 3))
    image[4:12, 4:12], image[8:20, 20:28] = (200, 0, 0), (0, 200, 0)
    return [mf.Bilateral(image, 10.0, 20.0, 3.0)]


def test_save_and_load(tmp_path):
    found = modes_of(two_blobs(n_labels=4))
    found.save(tmp_path / "blobs.npz")
    again = mf.load(tmp_path / "blobs.npz")
    assert again.weights == pytest.approx(found.weights)
    assert again.log_z == pytest.approx(found.log_z)
    assert len(again.tree) == len(found.tree)
    for one, other in zip(found.modes, again.modes, strict=True):
        assert np.array_equal(one.marginals, other.marginals)
        assert one.mass_inside == other.mass_inside
        for a, b in zip(one.constraints, other.constraints, strict=True):
            assert np.array_equal(a.group, b.group)
            assert np.array_equal(a.labels, b.labels)
            assert (a.count, a.sign) == (b.count, b.sign)
    assert again.sample(2, rng=0).shape == (2, 24, 32)


def test_modes_that_are_held_can_be_cut_again():
    """Constraints met again on a longer path keep the multipliers that hold them; without them 8 modes are found."""
    unary = gaussian_filter(np.random.default_rng(1).normal(size=(24, 32, 3)), (2, 2, 0))
    found = mf.infer(mf.DenseCRF(unary / unary.std(), [mf.Gaussian(2.0, 4.0)], negligible=0), 10)
    assert len(found.modes) == 10
    assert max(sum(c.sign < 0 for c in mode.constraints) for mode in found.modes) >= 2


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
    assert finder._may_be_new(cell.cut(of_second_label(cut)), parent) is promising


def test_a_group_that_loses_its_label_takes_the_next_best():
    q = np.array([[0.7, 0.2, 0.1], [0.1, 0.2, 0.7], [0.6, 0.1, 0.3], [0.6, 0.3, 0.1]])
    removed = Cardinality(np.array([0, 2]), np.zeros(1, np.int64), 1, -1)
    assert _pushed(q, removed).tolist() == [1, 2, 2, 0]
    assert _pushed(q, Cardinality(np.array([1, 2]), np.ones(1, np.int64), 1)).tolist() == [0, 1, 1, 0]


@pytest.mark.parametrize("n_labels", [2, 3, 8])
def test_members_of_a_group_are_read_from_the_channels(n_labels):
    rng = np.random.default_rng(n_labels)
    crf = mf.DenseCRF(rng.random((4, 5, n_labels)), [mf.Gaussian(2.0, 1.0)])
    q = rng.dirichlet(np.ones(n_labels), (3, 20)).astype(np.float32)
    points, labels = np.array([0, 7, 19]), np.array([0, n_labels - 1, n_labels - 1])
    layout = Layout(crf, 3)
    values = layout.pack(q)
    for some in (labels, np.zeros_like(labels)):
        assert layout.probabilities(values, 1, points, some) == pytest.approx(q[1, points, some], abs=1e-6)


@pytest.mark.parametrize("movers_above", [0.1, np.inf])
@pytest.mark.parametrize(("n_labels", "n_modes"), [(2, 3), (3, 2), (8, 5)])
def test_modes_that_are_alike_are_filtered_as_one(n_labels, n_modes, movers_above):
    rng = np.random.default_rng(n_modes)
    crf = mf.DenseCRF(rng.random((12, 15, n_labels)), [mf.Gaussian(3.0, 2.0), mf.Gaussian(1.0, 1.0)])
    values = Layout(crf, n_modes).pack(np.repeat(rng.dirichlet(np.ones(n_labels), (1, crf.n)), n_modes, 0))
    bias, beta = rng.random((crf.n, n_labels * n_modes)).astype(np.float32), np.ones(n_modes, np.float32)
    answers = []
    for same_start in (False, True):
        update, new = DenseUpdate(crf, n_modes, bias, threads=1), np.zeros_like(values)
        step = update.step(values, beta, new, same_start=same_start, movers_above=movers_above)
        assert (step.movers is None) == np.isinf(movers_above)
        movers = () if step.movers is None else (step.movers.points, step.movers.support, step.movers.before)
        answers.append((new, step.support, step.cost, step.entropy, step.change, *movers))
    for one, other in zip(*answers, strict=True):
        assert (one == other).all()


def test_bounds_are_those_of_the_values_as_they_are():
    """Modes that are changed after they were updated must not be judged by what they were."""
    rng = np.random.default_rng(3)
    kernels = [mf.Gaussian(3.0, 4.0), mf.Bilateral(rng.random((40, 50)), 9.0, 0.3, 2.0)]
    crf = mf.DenseCRF(rng.random((40, 50, 3)), kernels)
    update = DenseUpdate(crf, 1, threads=1)
    values, _ = iterate(update, None, np.ones(1), tolerance=1e-5, max_iterations=4)
    kept = values.copy()
    assert update.bounds(values, after_step=True) == pytest.approx(update.bounds(kept), rel=1e-9)
    values[: crf.n // 2] = values[crf.n // 2 :]
    assert (update.bounds(values) == update.bounds(values.copy())).all()
    other = DenseUpdate(crf, 1, threads=1)
    one, _ = iterate(other, values.copy(), np.ones(1), tolerance=1e-5, max_iterations=2)
    assert (iterate(update, values, np.ones(1), tolerance=1e-5, max_iterations=2)[0] == one).all()
