"""The filters of a field together: their sum with compatibilities, band by band."""

from __future__ import annotations

import numpy as np
import pytest
from matrix_filter import MatrixFilter, matrix_of

import mixfield as mf
from mixfield import _threads
from mixfield.filters.bands import BandSchedule
from mixfield.filters.bank import FilterBank, subset_support
from mixfield.filters.coarse_grid import CoarseGrid
from mixfield.filters.lattice import Lattice
from mixfield.filters.separable import Separable
from mixfield.solvers.dense_update import DenseUpdate

SHAPE, N_LABELS, N_MODES = (10, 12), 3, 2
N, CHANNELS = 120, 8  # six numbers of a pixel are used


def _filters(*names):
    features = np.random.default_rng(0).normal(size=(N, 2)).astype(np.float32)
    every = {
        "lattice": Lattice.build(features, strength=2.0),
        "coarse": CoarseGrid.build(SHAPE, (3.0, 4.0), normalization="symmetric"),
        "separable": Separable.build(SHAPE, (1.0, 1.5), normalization="after"),
        "matrix": MatrixFilter(np.random.default_rng(1).random((N, N)) / N),
    }
    return [every[name] for name in names]


SETS = [(), ("lattice",), ("coarse",), ("separable",), ("lattice", "coarse"), ("lattice", "separable", "matrix")]


def _bank(filters, compatibilities, threads=1):
    return FilterBank(filters, compatibilities, n=N, channels=CHANNELS, n_modes=N_MODES, threads=threads)


def _values(seed=2):
    values = np.zeros((N, CHANNELS), np.float32)
    values[:, : N_LABELS * N_MODES] = np.random.default_rng(seed).random((N, N_LABELS * N_MODES))
    return values


def _support(filters, compatibilities, values):
    """By matrices: the sum over filters of minus the costs of the filtered values."""
    total = np.zeros((N, N_LABELS, N_MODES))
    for filter, costs in zip(filters, compatibilities, strict=True):
        filtered = (matrix_of(filter, N) @ values[:, :6]).reshape(N, N_LABELS, N_MODES)
        total += filtered if costs is None else np.einsum("lm,nmk->nlk", -costs, filtered)
    return total.reshape(N, -1)


def _gathered(bank):
    out = np.full((N, CHANNELS), np.nan, np.float32)

    def keep(band, first, last, support):
        assert bank.schedule.bands[band] == (first, last)
        out[first:last] = support

    bank.for_each_band(keep)
    return out[:, :6]


@pytest.mark.parametrize("names", SETS)
@pytest.mark.parametrize("threads", [1, 3])
def test_support_is_the_sum_of_the_filters(names, threads):
    filters, values = _filters(*names), _values()
    none = [None] * len(filters)
    bank = _bank(filters, none, threads)
    bank.load(values)
    assert _gathered(bank) == pytest.approx(_support(filters, none, values), rel=1e-4, abs=1e-5)


@pytest.mark.parametrize("names", SETS[1:])
def test_support_with_compatibilities(names):
    filters, values = _filters(*names), _values()
    costs = [np.random.default_rng(k).normal(size=(3, 3)).astype(np.float32) for k in range(len(filters))]
    costs = [one + one.T for one in costs]
    bank = _bank(filters, costs)
    bank.load(values)
    assert _gathered(bank) == pytest.approx(_support(filters, costs, values), rel=1e-4, abs=1e-5)


@pytest.mark.parametrize(("names", "fused"), [(("lattice", "coarse"), True), (("lattice", "separable"), False)])
def test_streams_that_splat_are_fused(names, fused):
    bank = _bank(_filters(*names), [None, None])
    assert bank.in_place is bank.fused is fused
    parts = len(bank.schedule.parts)
    many = _bank(_filters(*names), [None, None], threads=parts + 1)  # more threads than parts: not worth it
    assert many.in_place is fused
    assert not many.fused


@pytest.mark.parametrize("threads", [1, 2])
def test_values_of_an_update_are_splatted_for_the_next_load(threads, monkeypatch):
    monkeypatch.setattr(_threads, "WORTH_IT", 0.0)
    filters, values, new = _filters("lattice", "coarse"), _values(), _values(seed=3)
    bank = _bank(filters, [None, None], threads)
    assert bank.fused
    bank.load(values)
    bank.for_each_band(lambda band, first, last, support: new[first:last], splat_into=bank)  # noqa: ARG005
    bank.load(None)
    assert _gathered(bank) == pytest.approx(_support(filters, [None, None], new), rel=1e-4, abs=1e-5)


def test_invalidated_values_are_read_again():
    filters, values, new = _filters("lattice"), _values(), _values(seed=3)
    bank = _bank(filters, [None])
    bank.load(values)
    bank.for_each_band(lambda band, first, last, support: values[first:last], splat_into=bank)  # noqa: ARG005
    bank.invalidate()
    bank.load(new)
    assert _gathered(bank) == pytest.approx(_support(filters, [None], new), rel=1e-4, abs=1e-5)


def test_splatted_values_take_precedence_over_those_given():
    """So `invalidate` must be called after values are changed in place."""
    filters, values, new = _filters("lattice"), _values(), _values(seed=3)
    bank = _bank(filters, [None])
    bank.load(values)
    bank.for_each_band(lambda band, first, last, support: new[first:last], splat_into=bank)  # noqa: ARG005
    bank.load(values)
    assert _gathered(bank) == pytest.approx(_support(filters, [None], new), rel=1e-4, abs=1e-5)


def test_without_support_bands_are_zero():
    bank = _bank(_filters("lattice", "coarse"), [None, None])
    bank.load(_values())
    seen = []
    bank.for_each_band(lambda band, first, last, support: seen.append(np.abs(support).max()), support=False)  # noqa: ARG005
    assert len(seen) == len(bank.schedule.bands)
    assert max(seen) == 0.0


@pytest.mark.parametrize("names", SETS[1:])
def test_support_of_a_subset(names):
    """Of filters that are exact on subsets; the lattice loses paths over other points."""
    filters, points = _filters(*(name for name in names if name != "lattice")), np.arange(5, 100, 3)
    costs = [None, -np.eye(3, dtype=np.float32)][: len(filters)]
    values, everywhere = _values()[points], np.zeros((N, CHANNELS), np.float32)
    everywhere[points] = values
    support = subset_support(filters, costs, points, N_MODES, threads=2)(values)
    assert support[:, :6] == pytest.approx(_support(filters, costs, everywhere)[points], rel=1e-4, abs=1e-5)


def test_large_lattices_are_splatted_in_fewer_parts():
    picture = np.random.default_rng(0).random((60, 80, 3)).astype(np.float32)
    few, many = (
        mf.DenseCRF(np.zeros((60, 80, 2)), [mf.Bilateral(picture, *widths)]) for widths in ((9.0, 0.05), (90.0, 9.0))
    )
    assert len(DenseUpdate(few, 1, threads=1).bank.schedule.parts) == 2
    assert len(DenseUpdate(many, 1, threads=1).bank.schedule.parts) == 4


def test_bands_hold_whole_rows_where_a_filter_asks_for_them():
    rows, points = (_bank(_filters(name), [None]).schedule for name in ("separable", "lattice"))
    assert all(first % SHAPE[1] == 0 for first, _ in rows.bands)
    assert points.bands == ((0, N),)
    given = BandSchedule.of(N, 40, CHANNELS)
    bank = FilterBank(_filters("lattice"), [None], n=N, channels=CHANNELS, n_modes=N_MODES, threads=1, schedule=given)
    assert bank.schedule.bands == ((0, 40), (40, 80), (80, 120))
