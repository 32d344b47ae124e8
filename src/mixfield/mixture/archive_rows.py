"""Modes, nodes and constraints as the JSON of a saved posterior, and back."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mixfield.constraints.cardinality import Cardinality
from mixfield.mixture.node import Node
from mixfield.solvers.mode import Mode

MakeConstraint = Callable[[dict[str, Any]], Cardinality]


def number_or_null(value: float) -> float | None:
    """NaN as null, which every reader of JSON knows."""
    return None if math.isnan(value) else value


def float_or_nan(value: float | None) -> float:
    return float("nan") if value is None else float(value)


def constraint_header(constraint: Cardinality) -> dict[str, Any]:
    return {
        "group": constraint.group.tolist(),
        "labels": constraint.labels.tolist(),
        "count": constraint.count,
        "sign": constraint.sign,
    }


def constraint_of(row: dict[str, Any]) -> Cardinality:
    return Cardinality(np.array(row["group"]), np.array(row["labels"]), int(row["count"]), int(row["sign"]))


def mode_header(mode: Mode) -> dict[str, Any]:
    return {
        "log_z": mode.log_z,
        "constraints": [constraint_header(c) for c in mode.constraints],
        "mass_inside": mode.mass_inside,
        "converged": mode.converged,
        "iterations": mode.iterations,
        "temperature": mode.temperature,
        "energy": number_or_null(mode.energy),
    }


def mode_of(row: dict[str, Any], marginals: NDArray[np.float64], constraint: MakeConstraint) -> Mode:
    return Mode(
        marginals=marginals,
        log_z=float(row["log_z"]),
        constraints=tuple(constraint(c) for c in row["constraints"]),
        mass_inside=float(row["mass_inside"]),
        converged=bool(row["converged"]),
        iterations=int(row["iterations"]),
        temperature=float(row["temperature"]),
        energy=float_or_nan(row.get("energy")),
    )


def node_header(node: Node) -> dict[str, Any]:
    return {
        "parent": node.parent,
        "constraint": None if node.constraint is None else constraint_header(node.constraint),
        "temperature": node.temperature,
        "log_z": node.log_z,
        "mode": node.mode,
    }


def node_of(row: dict[str, Any], constraint: MakeConstraint) -> Node:
    cut = None if row["constraint"] is None else constraint(row["constraint"])
    return Node(int(row["parent"]), cut, float(row["temperature"]), float(row["log_z"]), int(row["mode"]))
