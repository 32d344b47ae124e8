"""Windows with a common phase transition."""

from __future__ import annotations

from dense_fields import modes_of, two_blobs

import mixfield as mf


def test_two_doubtful_blobs_make_four_modes():
    """Each blob on or off."""
    found = modes_of(two_blobs(), criterion=mf.criteria.MeltingWindows())
    assert len(found.modes) == 4
    first, second = found.labelings()[:, 8, 8], found.labelings()[:, 14, 24]
    assert len(set(zip(first.tolist(), second.tolist(), strict=True))) == 4
    assert all(mode.converged for mode in found.modes)


def test_windows_have_options():
    assert len(modes_of(two_blobs(), criterion=mf.criteria.MeltingWindows(smallest=0.9)).modes) == 1
    assert len(modes_of(two_blobs(), criterion=mf.criteria.MeltingWindows(tries=1)).modes) > 1
    few = modes_of(two_blobs(), 2, criterion=mf.criteria.MeltingWindows(shares=(0.1,)))
    many = modes_of(two_blobs(), 2, criterion=mf.criteria.MeltingWindows(shares=(0.6,)))
    assert len(few.modes[0].constraints[0].group) < len(many.modes[0].constraints[0].group)
