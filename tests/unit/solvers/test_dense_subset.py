"""Updates of some pixels while all others stay fixed."""

from __future__ import annotations

import naive_dense
import numpy as np
import pytest
from dense_fields import scores

import mixfield as mf
from mixfield.solvers.dense_subset import SubsetUpdate
from mixfield.solvers.dense_update import DenseUpdate, Movers

POINTS = np.arange(3, 170, 4)


class Case:
    """Some pixels of some modes of a field with biases, after an update of all pixels from random values."""

    def __init__(self, n_labels, n_modes, modes, strength=2.0):
        rng = np.random.default_rng(0)
        kernels = [mf.Gaussian(2.0, strength), mf.Gaussian(1.0, 1.0)]
        self.crf = mf.DenseCRF(scores((12, 15), n_labels, rng), kernels, negligible=0)
        bias = rng.normal(size=(self.crf.n, n_labels * n_modes)).astype(np.float32)
        self.update, self.modes = DenseUpdate(self.crf, n_modes, bias, threads=1), np.array(modes)
        self.beta = np.linspace(0.5, 1.0, n_modes).astype(np.float32)
        self.values = self.update.layout.pack(rng.dirichlet(np.ones(n_labels), (n_modes, self.crf.n)))
        every = self.update.step(self.values, self.beta, self.update.layout.zeros(), movers_above=-1.0).movers
        assert every.points.tolist() == list(range(self.crf.n))
        support, self.current = self.some(every.support), self.some(self.values)
        movers = Movers(POINTS, support, self.current)
        self.subset = SubsetUpdate(self.update, self.modes, movers, self.beta[self.modes])

    def some(self, channels):
        """The modes of the subset at its pixels."""
        return self.update.layout.take(channels, self.modes, 1)[POINTS]

    def with_subset(self, some):
        """All values, with those of the subset."""
        values, channels = self.values.copy(), self.update.layout.channels(self.modes)
        values[POINTS[:, None], channels] = some[:, : len(channels)]
        return values

    def updated(self, values):
        """The subset after an update of all pixels."""
        self.update.invalidate()
        self.update.step(values, self.beta, new := self.update.layout.zeros())
        return self.some(new)

    def free_energies(self, values):
        """(K,) F of the modes of the subset, by brute force."""
        crf, found = self.crf, []
        bias = self.update.bias.reshape(crf.n, crf.n_labels, -1)
        for mode, q in enumerate(self.update.layout.unpack(values).astype(np.float64)):
            expected = float(crf.expected(q.reshape(*crf.shape, -1))) + (q * bias[..., mode]).sum()
            found.append(expected - naive_dense.entropy(q) / self.beta[mode])
        return np.array(found)[self.modes]


@pytest.fixture(params=[(2, 1, [0]), (3, 4, [1, 3]), (3, 4, [0, 1, 2, 3]), (9, 1, [0])], ids=str)
def case(request):
    return Case(*request.param)


def test_a_step_is_that_of_the_whole_field(case):
    new, _ = case.subset.step(case.current, case.subset.support(case.current))
    assert new == pytest.approx(case.updated(case.values), abs=1e-5)


def test_later_steps_see_what_the_others_of_the_subset_have_become(case):
    """A step of the whole field from values in which only the subset has changed is the second step of the subset."""
    first, change = case.subset.step(case.current, case.subset.support(case.current))
    second, _ = case.subset.step(first, case.subset.support(first))
    moved = case.with_subset(first)
    assert second == pytest.approx(case.updated(moved), abs=1e-4)
    before, after = (case.update.layout.unpack(channels)[case.modes] for channels in (case.values, moved))
    assert change == pytest.approx(np.abs(after - before).max((1, 2)), abs=1e-5)


def test_a_run_ends_at_the_fixed_point_of_the_subset(case):
    run = case.subset.run(case.current, np.full(len(case.modes), 1e-5), 200)
    assert 2 < run.updates < 200
    assert run.values == pytest.approx(case.updated(case.with_subset(run.values)), abs=1e-3)


def test_a_run_reports_the_rise_of_cost_and_entropy_and_lowers_the_free_energy(case):
    run = case.subset.run(case.current, np.zeros(len(case.modes)), 9)
    assert run.updates == 9
    after = case.with_subset(run.values)
    crf, marginals = case.crf, [case.update.layout.unpack(q)[case.modes] for q in (case.values, after)]
    bias = case.update.bias.reshape(crf.n, crf.n_labels, -1).transpose(2, 0, 1)[case.modes]
    costs = [(q * (crf.costs + bias)).sum((1, 2)) for q in marginals]
    entropies = [np.array([naive_dense.entropy(mode) for mode in q]) for q in marginals]
    assert run.cost == pytest.approx(costs[1] - costs[0], rel=1e-3, abs=1e-3)
    assert run.entropy == pytest.approx(entropies[1] - entropies[0], rel=1e-3, abs=1e-3)
    assert (case.free_energies(after) < case.free_energies(case.values)).all()


def test_accelerated_updates_come_nearer_than_plain_ones():
    """Strong coupling, where plain updates creep."""
    case = Case(2, 1, [0], strength=18.0)
    goal, accelerated = (case.subset.run(case.current, np.zeros(1), most).values for most in (500, 16))
    plain = case.current
    for _ in range(16):
        plain, _ = case.subset.step(plain, case.subset.support(plain))
    assert np.abs(accelerated - goal).max() < 0.5 * np.abs(plain - goal).max()


def test_modes_whose_free_energy_would_rise_keep_their_values(monkeypatch):
    case = Case(3, 4, [1, 3])
    best = case.subset.run(case.current, np.zeros(2), 50).values
    worse = best.copy()
    worse[:, 1::2] = case.current[:, 1::2] = best[:, 1::2]  # the second mode begins at its best
    worse[:, 1], worse[:, 3] = best[:, 3], best[:, 1]  # and goes where its labels are exchanged
    monkeypatch.setattr(case.subset, "step", lambda *_: (worse.copy(), np.zeros(2)))
    run = case.subset.run(case.current, np.ones(2), 1)
    assert (run.values == best).all()
    assert run.cost[1] == run.entropy[1] == 0.0 != run.cost[0]
