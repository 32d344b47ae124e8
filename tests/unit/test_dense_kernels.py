"""The compiled loops of dense fields against plain loops; also run without the compiler."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from mixfield.filters.lattice import _Numbering
from mixfield.kernels import coarse, lattice, pixel_rows, rows, separable, softmax
from mixfield.solvers import dense_update as iteration

pytestmark = [
    pytest.mark.interpreted,
    pytest.mark.filterwarnings("ignore:overflow encountered"),  # keys wrap around; Python says so
]


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.mark.parametrize("channels", [4, 8, 16, 24])
def test_weigh_adds_weighted_rows(channels, rng):
    source = rng.random((9, channels)).astype(np.float32)
    row, weight = rng.integers(0, 9, 12).astype(np.int32), rng.random(12).astype(np.float32)
    out = np.ones(3 * channels, np.float32)
    rows.weigh(source.ravel(), row, weight, 2, 11, channels, out, channels)
    expected = np.ones((3, channels))
    for e in range(2, 11):
        expected[1] += weight[e] * source[row[e]]
    assert out == pytest.approx(expected.ravel(), rel=1e-5)


@pytest.mark.parametrize("channels", [4, 8, 12, 16, 24, 40, 60])
def test_chains_add_half_of_both_neighbours(channels, rng):
    values = rng.random((9, channels)).astype(np.float32)
    order, bond = np.array([7, 2, 5, 0, 8] + 8 * [0], np.int32), np.array([0.5, 0.5, 0.0, 0.5, 0.0], np.float32)
    expected = values.copy()
    for first, second in ((7, 2), (2, 5), (0, 8)):
        expected[first] += 0.5 * values[second]
        expected[second] += 0.5 * values[first]
    lattice.blur(values, order, bond, 0, 5)
    assert values == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("size", [1, 4, 31, 32, 75])
def test_stack_adds_shifted_lines(size, rng):
    source, weight = rng.random(400).astype(np.float32), rng.random(6).astype(np.float32)
    out = np.full(size + 2, 7.0, np.float32)
    rows.stack(source, 3, 11, weight, 1, 5, out, 1, size)
    expected = sum(weight[k] * source[3 + 11 * k : 3 + 11 * k + size] for k in range(1, 5))
    assert out[1:-1] == pytest.approx(expected, rel=1e-5)
    assert out[0] == out[-1] == 7.0


@pytest.mark.parametrize("d", [1, 2, 3, 5])
def test_points_are_mixtures_of_the_corners_around_them(d, rng):
    """The weights are positive, sum to one, and a point is the weighted mean of its corners."""
    n = 40
    features = rng.normal(size=(n, d)).astype(np.float32) * 3
    multiplier = np.append(rng.integers(1, 2**40, d) | 1, 0)
    keys, weight = np.empty((n, d + 1), np.int64), np.empty((n, d + 1), np.float32)
    scale = np.sqrt(2 / 3) * (d + 1) / np.sqrt(np.arange(1, d + 1) * np.arange(2, d + 2))
    step = multiplier.sum() - (d + 1) * multiplier
    lattice.embed(features, scale.astype(np.float32), multiplier, step, keys, weight)
    assert (weight > -1e-4).all()
    assert weight.sum(1) == pytest.approx(np.ones(n), abs=1e-4)
    elevated = np.zeros((n, d + 1))
    for j in range(d, 0, -1):
        scaled = features[:, j - 1] * scale[j - 1]
        elevated[:, j] += -j * scaled
        elevated[:, :j] += scaled[:, None]
    # keys are linear in the coordinates of the corners, so their mean is the key of the point
    mean = (weight.astype(float) * keys).sum(1)
    assert mean == pytest.approx(elevated @ multiplier.astype(float), rel=1e-3, abs=1e-4 * float(multiplier.max()))


@pytest.mark.parametrize("largest", [1, 50, 10**18])  # the last has more keys than the table has room for at first
@pytest.mark.parametrize("n", [1, 3, 6000])
def test_numbers_follow_first_appearance(n, largest, rng):
    keys, corner = rng.integers(-largest, largest, (n, 6)), np.empty((n, 6), np.int32)
    found = _Numbering(n)
    for begin in range(0, n, 1000):
        found.add(keys[begin : begin + 1000], corner[begin : begin + 1000])
    assert found.keys.tolist() == list(dict.fromkeys(keys.ravel().tolist()))
    assert (found.keys[corner] == keys).all()
    assert len(found.table) >= 2 * len(found.keys)


def test_one_channel_is_like_many(rng):
    n, m = 40, 9
    vertex, weight = rng.integers(0, m, (n, 3)).astype(np.int32), rng.random((n, 3)).astype(np.float32)
    ratio, ones = rng.random(n).astype(np.float32), np.ones((n, 4), np.float32)
    order, bond = np.array([7, 2, 5, 0, 8] + 8 * [0], np.int32), np.array([0.5, 0.5, 0.0, 0.5, 0.0], np.float32)
    table, out, one, line = (np.zeros(shape, np.float32) for shape in ((m, 4), (n, 4), m, n))
    lattice.splat(ones, vertex, weight, ratio, 0, table)
    lattice.blur(table, order, bond, 0, 5)
    lattice.slice_add(table, vertex, weight, 0, n, out)
    lattice.splat_ones(vertex, weight, ratio, 0, n, one)
    lattice.blur_one(one, order, bond)
    lattice.slice_one(one, vertex, weight, 0, n, line)
    assert one == pytest.approx(table[:, 0], rel=1e-6)
    assert line == pytest.approx(out[:, 0], rel=1e-6)


def test_neighbours_are_steps_apart():
    known = np.array([10, 17, 3, 99, 24, 50, 57])
    table = np.zeros(16, np.int64)
    lattice.enter(known, 7, table)
    order, bond = lattice.link(table, known, 7, np.empty(7, np.int32), np.empty(7, np.bool_))
    assert order[:6].tolist() == [2, 0, 1, 4, 5, 6]
    assert bond.tolist() == [0.5, 0.5, 0.5, 0.0, 0.5, 0.0]


def test_some_corners_keep_their_neighbours():
    order, bond = np.array([2, 0, 1, 4, 5, 6] + 8 * [0], np.int32), np.array([0.5, 0.5, 0.5, 0.0, 0.5, 0.0], np.float32)
    place = np.array([0, 1, -1, -1, 2, -1, 3], np.int32)  # corners 0, 1, 4 and 6
    some, bonds = lattice.relink(order, bond, place)
    assert some[:4].tolist() == [0, 1, 2, 3]
    assert bonds.tolist() == [0.5, 0.5, 0.0, 0.0]


@pytest.mark.parametrize("channels", [4, 8, 24])
def test_down_and_up_are_sums_along_both_axes(channels, rng):
    rows, columns, reach = 7, 9, 4
    values = rng.random((rows, columns, channels)).astype(np.float32)
    row_above, start = np.array([0, 0, 1, 1, 2, 2, 3]), np.array([-3, 1, 4, 8])
    row_weight, taps = (rng.random((len(s), reach)).astype(np.float32) for s in (row_above, start))
    down = np.full((7 + 4, 4 * channels), np.nan, np.float32)
    for first, last, begin, fresh in ((0, 2, 0, 0), (2, 3, 0, 0), (3, 7, 3, 5)):  # two parts, the first in two bands
        some = values[first:last].reshape(last - first, -1)
        coarse.down(some, channels, first, begin, fresh, row_above, row_weight, start, taps, 7, down)
    expected = np.zeros((7, 4, channels))
    for y, i, r, c in itertools.product(range(rows), range(4), range(reach), range(reach)):
        if 0 <= start[i] + c < columns:
            expected[row_above[y] + r, i] += row_weight[y, r] * taps[i, c] * values[y, start[i] + c]
    down[1:5] += down[7:]  # what the second part had for rows of the first
    assert down[:7].reshape(expected.shape) == pytest.approx(expected, rel=1e-5)

    above, over = np.array([0, 1, 1, 2, 3]), np.array([0, 2, 2, 3, 4, 5])
    up_rows, up = (rng.random((len(s), reach)).astype(np.float32) for s in (above, over))
    for keep in (False, True):
        out = np.full((2, 6 * channels), 2.0, np.float32)
        coarse.up_add(values.reshape(rows, -1), channels, above, up_rows, over, up, 2, 4, keep, out)
        expected = np.full((2, 6, channels), 2.0 * keep)
        for j, i, r, c in itertools.product(range(2), range(6), range(reach), range(reach)):
            expected[j, i] += up_rows[2 + j, r] * up[i, c] * values[above[2 + j] + r, over[i] + c]
        assert out.reshape(expected.shape) == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("channels", [4, 24])
def test_sums_between_coarse_pixels(channels, rng):
    values = rng.random((5, 6, channels)).astype(np.float32)
    row_taps, taps = rng.random(7).astype(np.float32), rng.random(5).astype(np.float32)
    out = np.empty((5, 6 * channels), np.float32)
    coarse.sum_rows(values.reshape(5, -1), channels, row_taps, taps, 0, 5, out)
    padded = np.pad(values, ((3, 3), (2, 2), (0, 0)))
    expected = sum(
        row_taps[r] * taps[c] * padded[r : r + 5, c : c + 6] for r, c in itertools.product(range(7), range(5))
    )
    assert out.reshape(expected.shape) == pytest.approx(expected, rel=1e-5)


def test_rows_beyond_the_edge_have_no_weight(rng):
    values, taps = rng.random((5, 8)).astype(np.float32), rng.random((5, 7)).astype(np.float32)
    out = np.empty((5, 8), np.float32)
    separable.filter_rows(values, taps, 0, 5, out)
    expected = np.zeros((5, 8))
    for row in range(5):
        for k in range(7):
            if 0 <= row + k - 3 < 5:
                expected[row] += taps[row, k] * values[row + k - 3]
    assert out == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("n_modes", [1, 2, 3, 4, 8, 20])
@pytest.mark.parametrize("per_mode", [2, 3])
def test_an_update_is_a_softmax(per_mode, n_modes, rng):
    """Modes with a bias but for the first, three labels of which the last may follow from the others."""
    n, n_labels = 151, 3
    unary = rng.normal(size=(n, n_labels)).astype(np.float32)
    bias = rng.normal(size=(n, n_labels, n_modes)).astype(np.float32)
    bias[..., 0] = 0.0
    shared = rng.random(n).astype(np.float32) + 3
    heard = rng.random((n, n_labels, n_modes)).astype(np.float32)
    heard[:, -1] = shared[:, None] - heard[:, :-1].sum(1)
    was = rng.dirichlet(np.ones(n_labels), (n, n_modes)).astype(np.float32).swapaxes(1, 2)
    field, old, more = (
        np.ascontiguousarray(one).reshape(n, -1) for one in (heard[:, :per_mode], was[:, :per_mode], bias)
    )
    beyond = np.zeros((n + 2, old.shape[1]), np.float32)
    new, cooling = beyond[1:-1], np.linspace(1.0, 0.5, n_modes).astype(np.float32)
    sums, change = iteration._update(unary, more, shared, field, old, per_mode, cooling, (0, n), new)
    assert not beyond[[0, -1]].any()
    seen = np.zeros((3, 8 * n_modes))
    softmax.bound_terms(unary, more, shared, field, new, per_mode, n_modes, 0, n, seen)
    terms = seen.reshape(3, 8, n_modes).sum(1)
    labels = np.empty((n_modes, n), np.int32)
    softmax.likeliest(unary, new, per_mode, n_modes, 0, n, labels)
    for k in range(n_modes):
        costs = unary + bias[..., k]
        z = (heard[..., k] - costs).astype(float) * cooling[k]
        q = np.exp(z - z.max(1, keepdims=True))
        q /= q.sum(1, keepdims=True)
        assert new.reshape(n, per_mode, n_modes)[..., k] == pytest.approx(q[:, :per_mode], abs=1e-6)
        rest = [(q * costs).sum(), -(q * np.log(q)).sum()]
        assert sums[k] == pytest.approx([(was[..., k] * heard[..., k]).sum(), *rest], rel=1e-4, abs=1e-3)
        assert terms[:, k] == pytest.approx([(q * heard[..., k]).sum(), rest[0], -rest[1]], rel=1e-4, abs=1e-3)
        assert change[k] == pytest.approx(np.abs(q - was[..., k]).max(), abs=1e-5)
        assert labels[k].tolist() == q.argmax(1).tolist()


@pytest.mark.parametrize("n_labels", [8, 21, 33])
@pytest.mark.parametrize("first", [0, 37])
def test_an_update_of_many_labels_is_a_softmax(n_labels, first, rng):
    """One mode without bias, channels rounded up to a multiple of eight, one label forbidden here and there."""
    n, width = 150, -(-n_labels // 8) * 8
    unary = rng.normal(size=(n, n_labels)).astype(np.float32)
    unary[::7, 2] = 1e6
    heard, was = rng.random((n, n_labels)).astype(np.float32), rng.dirichlet(np.ones(n_labels), n).astype(np.float32)
    old, field = (np.pad(array, ((0, 0), (0, width - n_labels))) for array in (was, heard))
    new = np.full_like(old, 7.0)
    none = np.empty((n, 0), np.float32)
    silence, cooling = np.zeros(n, np.float32), np.array([0.5], np.float32)
    sums, change = iteration._update(
        unary, none, silence, field[first:], old[first:], n_labels, cooling, (first, n), new[first:]
    )
    z = 0.5 * (heard - unary).astype(float)
    q = np.exp(z - z.max(1, keepdims=True))
    q /= q.sum(1, keepdims=True)
    assert new[first:, :n_labels] == pytest.approx(q[first:], abs=1e-6)
    assert (new[first : n - 1, n_labels:] == 0).all()
    assert (new[:first] == 7.0).all()
    here = slice(first, n)
    entropy = -(q * np.log(np.maximum(q, 1e-30)))[here].sum()
    assert sums[0] == pytest.approx([(was * heard)[here].sum(), (q * unary)[here].sum(), entropy], rel=1e-4, abs=1e-3)
    assert change[0] == pytest.approx(np.abs(q - was)[here].max(), abs=1e-5)


@pytest.mark.parametrize(("n_labels", "n_modes"), [(2, 3), (2, 12), (3, 1), (3, 20), (4, 8), (8, 1), (21, 1)])
def test_an_update_in_place_is_the_same(n_labels, n_modes, rng):
    n, width = 151, -(-n_labels * n_modes // 8) * 8
    unary, bias = rng.normal(size=(n, n_labels)).astype(np.float32), np.empty((n, 0), np.float32)
    field, old = rng.random((n, width)).astype(np.float32), rng.random((n, width)).astype(np.float32)
    field[:, n_labels * n_modes :] = old[:, n_labels * n_modes :] = 0.0
    new, silence, cooling = np.zeros_like(old), np.zeros(n, np.float32), np.ones(n_modes, np.float32)
    rest = n_labels, cooling, (0, n)
    told = iteration._update(unary, bias, silence, field, old, *rest, new)
    told_in_place = iteration._update(unary, bias, silence, field, old, *rest, old)
    assert (old == new).all()
    for one, other in zip(told, told_in_place, strict=True):
        assert (one == other).all()
    iteration._update(unary, bias, silence, field, field, *rest, field, watch=False)
    assert (field == new).all()


@pytest.mark.parametrize("n_labels", [8, 21])
def test_bound_terms_of_many_labels(n_labels, rng):
    n, width = 60, -(-n_labels // 8) * 8
    unary = rng.normal(size=(n, n_labels)).astype(np.float32)
    unary[::7, 2] = 1e6
    q = rng.dirichlet(np.ones(n_labels), n).astype(np.float32)
    values, field = np.zeros((n, width), np.float32), rng.random((n, width)).astype(np.float32)
    values[:, :n_labels] = q
    sums = np.zeros(3)
    pixel_rows.bound_terms(unary, field[5:], values[5:], 5, n - 1, sums)
    q = np.where(unary < 1e6, q, 0.0)[5:-1].astype(float)
    costs = np.where(unary < 1e6, unary, 0.0)[5:-1]
    expected = [(q * field[5:-1, :n_labels]).sum(), (q * costs).sum(), (q * np.log(np.maximum(q, 1e-30))).sum()]
    assert sums == pytest.approx(expected, rel=1e-5)


def test_movers_are_the_pixels_that_change(rng):
    old = rng.random((50, 4)).astype(np.float32)
    new = old.copy()
    new[[3, 17, 41], 2] += 0.5
    assert softmax.movers(old, new, np.float32(0.1)).tolist() == [3, 17, 41]
    assert softmax.movers(old, old, np.float32(0.0)).tolist() == []
