"""Modes, nodes and constraints as JSON."""

from __future__ import annotations

import json

import numpy as np

import mixfield as mf
from mixfield.constraints import Cardinality
from mixfield.mixture.archive_rows import constraint_of, mode_header, mode_of, node_header, node_of
from mixfield.mixture.node import Node

CUT = Cardinality([3, 5], [1, 0], 2, -1)


def _same(a, b):
    assert (a.group.tolist(), a.labels.tolist(), a.count, a.sign) == (
        b.group.tolist(), b.labels.tolist(), b.count, b.sign,
    )  # fmt: skip


def test_a_mode_and_its_constraints():
    mode = mf.Mode(np.full((2, 2), 0.5), -1.5, (CUT,), 0.875, False, 7, 2.0, energy=float("nan"))
    row = json.loads(json.dumps(mode_header(mode)))
    back = mode_of(row, mode.marginals, constraint_of)
    _same(back.constraints[0], CUT)
    assert (back.log_z, back.mass_inside, back.converged, back.iterations, back.temperature) == (
        -1.5, 0.875, False, 7, 2.0,
    )  # fmt: skip
    assert np.isnan(back.energy)
    assert row["energy"] is None
    assert mode_of({**row, "energy": 3.5}, mode.marginals, constraint_of).energy == 3.5


def test_a_node():
    back = node_of(json.loads(json.dumps(node_header(Node(4, CUT, 1.25, -3.0, 2)))), constraint_of)
    _same(back.constraint, CUT)
    assert (back.parent, back.temperature, back.log_z, back.mode) == (4, 1.25, -3.0, 2)
    assert node_of(node_header(Node(-1, None, 1.0, 0.0, -1)), constraint_of).constraint is None
