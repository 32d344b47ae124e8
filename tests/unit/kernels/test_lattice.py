"""The permutohedral lattice against plain loops; also run without the compiler."""

from __future__ import annotations

import naive_kernels
import numpy as np
import pytest

from mixfield.kernels import lattice
from mixfield.kernels.channel_sums import AHEAD

pytestmark = [
    pytest.mark.interpreted,
    pytest.mark.filterwarnings("ignore:overflow encountered"),  # hashes wrap around; Python says so
]

ORDER = np.array([7, 2, 5, 0, 8] + AHEAD * [0], np.int32)
LINKS = np.array([0.5, 0.5, 0.0, 0.5, 0.0], np.float32)


@pytest.fixture
def rng():
    return np.random.default_rng(0)


# ---------------------------------------------------------------- points to keys and weights


@pytest.mark.parametrize("n", [1, 40, 300])
@pytest.mark.parametrize("d", [1, 2, 3, 5])
def test_embed(d, n, rng):
    """The weights are positive, sum to one, and a point is the weighted mean of its vertices."""
    features = rng.normal(size=(n, d)).astype(np.float32) * 3
    multiplier = np.append(rng.integers(1, 2**40, d) | 1, 0)
    keys, weight = np.empty((n, d + 1), np.int64), np.empty((n, d + 1), np.float32)
    scale = np.sqrt(2 / 3) * (d + 1) / np.sqrt(np.arange(1, d + 1) * np.arange(2, d + 2))
    step = multiplier.sum() - (d + 1) * multiplier
    lattice.embed(features, scale.astype(np.float32), multiplier, step, keys, weight)
    assert (weight > -1e-4).all()
    assert weight.sum(1) == pytest.approx(np.ones(n), abs=1e-4)
    # keys are linear in the coordinates of the vertices, so their mean is the key of the point
    point = naive_kernels.elevate(features, scale) @ multiplier.astype(float)
    mean = (weight.astype(float) * keys).sum(1)
    assert mean == pytest.approx(point, rel=1e-3, abs=1e-4 * float(multiplier.max()))


# ---------------------------------------------------------------- keys to numbers of vertices


@pytest.mark.parametrize("largest", [1, 50, 10**18])
@pytest.mark.parametrize("n", [1, 3, 500])
def test_number(n, largest, rng):
    keys, vertex = rng.integers(-largest, largest, (n, 6)), np.full((n, 6), -1, np.int32)
    table, known = np.zeros(8192, np.int64), np.empty(4096, np.int64)
    distinct, numbers = naive_kernels.number(keys)
    place, count = lattice.number(keys, 0, table, known, 0, vertex)
    assert (place, count) == (n, len(distinct))
    assert known[:count].tolist() == distinct
    assert (vertex == numbers).all()
    place, again = lattice.number(keys, 0, table, known, count, vertex)  # none of them is new
    assert (place, again) == (n, count)
    assert (vertex == numbers).all()


def test_number_stops_where_keys_are_full(rng):
    keys, vertex = rng.integers(-(10**18), 10**18, (50, 6)), np.full((50, 6), -1, np.int32)
    table, known = np.zeros(512, np.int64), np.empty(100, np.int64)
    place, count = lattice.number(keys, 0, table, known, 0, vertex)
    assert (place, count) == (16, 96)
    assert (vertex[place:] == -1).all()
    larger, more = np.zeros(1024, np.int64), np.concatenate([known[:count], np.empty(400, np.int64)])
    lattice.enter(more, count, larger)
    place, count = lattice.number(keys, place, larger, more, count, vertex)
    distinct, numbers = naive_kernels.number(keys)
    assert (place, count) == (50, len(distinct))
    assert more[:count].tolist() == distinct
    assert (vertex == numbers).all()


def _chains(known, step):
    known, table = np.array(known), np.zeros(16, np.int64)
    lattice.enter(known, len(known), table)
    return lattice.link(table, known, step, np.empty(len(known), np.int32), np.empty(len(known), np.bool_))


def test_link():
    known = [10, 17, 3, 99, 24, 50, 57]
    order, links = _chains(known, 7)
    assert order.tolist() == [2, 0, 1, 4, 5, 6] + AHEAD * [0]
    assert links.tolist() == [0.5, 0.5, 0.5, 0.0, 0.5, 0.0]
    assert naive_kernels.linked(order, links) == dict.fromkeys(naive_kernels.link(known, 7), 0.5)


def test_vertices_without_neighbours_have_no_chain():
    order, links = _chains([10, 20, 40], 7)
    assert len(links) == 0
    assert len(order) == AHEAD


def test_renumber():
    vertex = np.array([[5, 2, 0], [1, 1, 1], [2, 6, 5], [4, 0, 3]], np.int32)
    place, out = np.full(7, -1, np.int32), np.empty((2, 3), np.int32)
    assert lattice.renumber(vertex, np.array([2, 3]), place, out) == 6
    assert out.tolist() == [[0, 1, 2], [3, 4, 5]]
    assert place.tolist() == [4, -1, 0, 5, 3, 2, 1]


def test_relink():
    known = [10, 17, 3, 99, 24, 50, 57]
    kept = [0, 1, 4, 6]
    place = np.full(7, -1, np.int32)
    place[kept] = range(4)
    order, links = lattice.relink(*_chains(known, 7), place)
    assert order[: len(links)].tolist() == [0, 1, 2, 3]
    some = naive_kernels.link([known[u] for u in kept], 7)
    assert naive_kernels.linked(order, links) == dict.fromkeys(some, 0.5)


# ---------------------------------------------------------------- splat, blur, slice


@pytest.fixture
def points(rng):
    n, m = 40, 9
    return rng.integers(0, m, (n, 3)).astype(np.int32), rng.random((n, 3)).astype(np.float32), m


@pytest.mark.parametrize("channels", [4, 24])
def test_splat(channels, points, rng):
    vertex, weight, m = points
    values, ratio = rng.random((40, channels)).astype(np.float32), rng.random(40).astype(np.float32)
    out = np.ones((m, channels), np.float32)
    lattice.splat(values[10:], vertex, weight, ratio, 10, out)
    expected = naive_kernels.splat(values[10:], vertex[10:], weight[10:], ratio[10:], m)
    assert out == pytest.approx(1 + expected, rel=1e-5)


@pytest.mark.parametrize("channels", [4, 24])
def test_blur(channels, rng):
    values = rng.random((9, channels)).astype(np.float32)
    expected = naive_kernels.blur_chains(values, ORDER, LINKS)
    lattice.blur(values, ORDER, LINKS, 0, 3)
    lattice.blur(values, ORDER, LINKS, 3, 5)
    lattice.blur(values, ORDER, LINKS, 5, 5)
    assert values == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("channels", [4, 24])
def test_slice_add(channels, points, rng):
    vertex, weight, m = points
    values, out = rng.random((m, channels)).astype(np.float32), np.ones((30, channels), np.float32)
    lattice.slice_add(values, vertex, weight, 10, 40, out)
    assert out == pytest.approx(1 + naive_kernels.interpolate(values, vertex[10:], weight[10:]), rel=1e-5)


def test_scale(points, rng):
    _, weight, _ = points
    factor, scaled = rng.random(40).astype(np.float32), weight.copy()
    lattice.scale(scaled, factor, 3, 30)
    assert (scaled[3:30] == weight[3:30] * factor[3:30, None]).all()
    assert (np.delete(scaled, range(3, 30), 0) == np.delete(weight, range(3, 30), 0)).all()


def test_one_channel(points, rng):
    """`splat_ones`, `blur_one` and `slice_one` are the same for one channel."""
    vertex, weight, m = points
    ratio, table, line = rng.random(40).astype(np.float32), np.zeros(m, np.float32), np.zeros(40, np.float32)
    lattice.splat_ones(vertex, weight, ratio, 0, 15, table)
    lattice.splat_ones(vertex, weight, ratio, 15, 40, table)
    expected = naive_kernels.splat(np.ones((40, 1)), vertex, weight, ratio, m)
    assert table == pytest.approx(expected[:, 0], rel=1e-5)
    lattice.blur_one(table, ORDER, LINKS)
    expected = naive_kernels.blur_chains(expected, ORDER, LINKS)
    assert table == pytest.approx(expected[:, 0], rel=1e-5)
    lattice.slice_one(table, vertex, weight, 0, 40, line)
    assert line == pytest.approx(naive_kernels.interpolate(expected, vertex, weight)[:, 0], rel=1e-5)
