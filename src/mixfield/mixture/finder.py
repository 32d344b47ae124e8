"""What the tree asks of whoever finds the modes of its cells."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from mixfield.constraints.cell import Cell
from mixfield.constraints.clamp import Settled
from mixfield.criteria.leaf import Leaf, Proposal
from mixfield.criteria.optima import Optima


class Seeker(Protocol):
    """Finds the mode of a cell."""

    optima: Optima

    @property
    def temperatures(self) -> int:
        """Steps between 1 and T_max at which phase transitions are looked for."""

    def root(self, cell: Cell, /) -> Settled:
        """The mode of the whole field."""

    def warm_up(self, root: Leaf, /) -> Settled | None:
        """A better mode of the whole field, sought only where it will be cut."""

    def foresee(self, leaf: Leaf, parent: Settled, proposals: Iterable[Proposal], /) -> None:
        """A leaf with this mode is about to be cut, by the first of these proposals now, perhaps by others later."""

    def settle(self, cell: Cell, parent: Settled, /) -> Settled | None:
        """The mode of a cell, given that of the cell it was cut from; None if none lives there."""

    def fork(self) -> Seeker:
        """One with the same knowledge, whose polishing this one does not notice."""

    def polish(self, leaf: Leaf, /) -> Settled | None:
        """A better mode of a finished leaf, if there is one."""
