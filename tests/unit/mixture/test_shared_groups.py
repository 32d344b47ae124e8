"""Groups of a saved header, written once."""

from __future__ import annotations

import copy
import json

import pytest

from mixfield.mixture.shared_groups import restore_groups, share_groups


def header():
    constraint = {"group": [3, 4, 5, 9], "labels": [2, 2, 2, 2], "count": 2, "sign": 1}
    other = {"group": [8, 1], "labels": [0, 1], "count": 1, "sign": -1}
    return {
        "modes": [{"constraints": [dict(constraint)]}, {"constraints": [dict(constraint), dict(other)]}],
        "tree": [{"constraint": None}, {"constraint": dict(constraint)}],
    }


def test_each_group_is_written_once_and_restored():
    shared = header()
    share_groups(shared)
    assert shared["groups"] == [[3, 1, 1, 4], [8, -7]]
    assert shared["modes"][1]["constraints"][1] == {"group": 1, "labels": [0, 1], "count": 1, "sign": -1}
    assert shared["tree"][1]["constraint"]["labels"] == [2]  # one label stands for all
    again = json.loads(json.dumps(shared))
    restore_groups(again)
    expected = header()
    for mode in (*expected["modes"], {"constraints": [expected["tree"][1]["constraint"]]}):
        for constraint in mode["constraints"]:
            if len(set(constraint["labels"])) == 1:
                constraint["labels"] = constraint["labels"][:1]
    assert again == expected


def test_headers_without_shared_groups_are_left_alone():
    old = header()
    kept = copy.deepcopy(old)
    restore_groups(old)
    assert old == kept


@pytest.mark.parametrize("index", [-1, 2, "0", None, 0.0])
def test_references_that_lead_nowhere(index):
    damaged = header()
    share_groups(damaged)
    damaged["modes"][0]["constraints"][0]["group"] = index
    with pytest.raises(ValueError, match="one of 2 groups"):
        restore_groups(damaged)
