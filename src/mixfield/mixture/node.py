"""One node of the tree of cuts."""

from __future__ import annotations

from dataclasses import dataclass

from mixfield.constraints.cardinality import Cardinality


@dataclass(frozen=True, eq=False)
class Node:
    """A node of the tree of cuts.

    Attributes
    ----------
    parent : index of the parent in ``posterior.tree``, or -1 for the root.
    constraint : what separates this node from its sibling (None for the root).
    temperature : of the phase transition of the group (NaN if it was found otherwise).
    log_z : bound A of the node's own mean field.
    mode : index of its mode if it is a leaf, else -1.
    """

    parent: int
    constraint: Cardinality | None
    temperature: float
    log_z: float
    mode: int
