"""Groups of a saved posterior, written once as runs of variables."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mixfield.mixture.shared_groups import SharedConstraints, share_groups

LARGEST = 10_000  # bytes


def header():
    constraint = {"group": [3, 4, 5, 9], "labels": [2, 2, 2, 2], "count": 2, "sign": 1}
    other = {"group": [8, 1], "labels": [0, 1], "count": 1, "sign": -1}
    return {
        "modes": [{"constraints": [dict(constraint)]}, {"constraints": [dict(constraint), dict(other)]}],
        "tree": [{"constraint": None}, {"constraint": dict(constraint)}],
    }


def test_each_group_is_written_once_as_runs():
    shared = header()
    runs, counts = share_groups(shared)
    assert runs.tolist() == [[3, 3], [9, 1], [8, 1], [1, 1]]
    assert counts.tolist() == [2, 2]
    assert shared["modes"][1]["constraints"][1] == {"group": 1, "labels": [0, 1], "count": 1, "sign": -1}
    assert shared["tree"][1]["constraint"] == {"group": 0, "labels": [2], "count": 2, "sign": 1}  # one label for all


def test_constraints_come_back_once_each():
    shared = header()
    made = SharedConstraints.restored(*share_groups(shared), n=10, largest=LARGEST)
    one, two = (made.constraint(row) for row in shared["modes"][1]["constraints"])
    assert (one.group.tolist(), one.labels.tolist(), one.count, one.sign) == ([3, 4, 5, 9], [2, 2, 2, 2], 2, 1)
    assert (two.group.tolist(), two.labels.tolist(), two.count, two.sign) == ([8, 1], [0, 1], 1, -1)
    assert made.constraint(shared["tree"][1]["constraint"]) is one


def test_no_constraints():
    runs, counts = share_groups({"modes": [{"constraints": []}], "tree": []})
    assert (runs.shape, counts.shape) == ((0, 2), (0,))
    assert SharedConstraints.restored(runs, counts, n=4, largest=LARGEST).groups == []


@given(st.lists(st.lists(st.integers(0, 30), min_size=1, unique=True), max_size=5))
def test_any_groups_come_back(groups):
    rows = [{"group": group, "labels": [0], "count": 1, "sign": 1} for group in groups]
    shared = {"modes": [{"constraints": rows}], "tree": []}
    made = SharedConstraints.restored(*share_groups(shared), n=31, largest=LARGEST)
    assert [made.constraint(row).group.tolist() for row in shared["modes"][0]["constraints"]] == groups


@pytest.mark.parametrize("index", [-1, 2, "0", None, 0.0])
def test_references_that_lead_nowhere(index):
    shared = header()
    made = SharedConstraints.restored(*share_groups(shared), n=10, largest=LARGEST)
    with pytest.raises(ValueError, match="one of 2 groups"):
        made.constraint({"group": index, "labels": [0], "count": 1, "sign": 1})


@pytest.mark.parametrize(
    ("runs", "counts", "complaint"),
    [
        ([[0, 11]], [1], r"must lie in 0\.\.9"),
        ([[8, 3]], [1], r"must lie in 0\.\.9"),
        ([[-1, 2]], [1], r"must lie in 0\.\.9"),
        ([[0, 0]], [1], r"must lie in 0\.\.9"),
        ([[2**62, 2**62]], [1], r"must lie in 0\.\.9"),
        ([[0, 1], [2, 1]], [1], "one or more of 2 runs"),
        ([[0, 1], [2, 1]], [3, -1], "one or more of 2 runs"),
        ([[0, 10]] * 200, [1] * 200, "groups of 2000 variables take more than 10000 bytes"),
    ],
)
def test_runs_that_do_not_fit(runs, counts, complaint):
    with pytest.raises(ValueError, match=complaint):
        SharedConstraints.restored(np.array(runs), np.array(counts), n=10, largest=LARGEST)


def test_many_constraints_on_one_group_do_not_take_all_memory():
    made = SharedConstraints.restored(np.array([[0, 400]]), np.array([1]), n=400, largest=LARGEST)
    rows = [{"group": 0, "labels": [0], "count": count, "sign": 1} for count in range(1, 10)]
    with pytest.raises(ValueError, match="its constraints take more than 10000 bytes"):
        list(map(made.constraint, rows))
