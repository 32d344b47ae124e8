"""What a criterion is: it proposes cuts of a leaf, the best first."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol, runtime_checkable

from mixfield.criteria.leaf import Leaf, Proposal
from mixfield.solvers.base import MeanFieldSolver


class Criterion(Protocol):
    """Where to cut a leaf."""

    def propose(self, leaf: Leaf, /) -> Iterator[Proposal]:
        """Cuts in order of preference; the first whose children both live in their cells is made."""


@runtime_checkable
class LimitsOverlap(Protocol):
    """A criterion may also limit how similar two modes of a dense field are.

    Attributes
    ----------
    distinct : largest share of variables on which two modes may have the same labels.
    """

    @property
    def distinct(self) -> float: ...


@runtime_checkable
class Anneals(Protocol):
    """A criterion may also say at which temperatures it will ask for marginals."""

    def temperatures(self, solver: MeanFieldSolver, /) -> list[float]: ...


@runtime_checkable
class KnowsRivals(Protocol):
    """A criterion may also know which leaves contain another interpretation."""

    def rival(self, leaf: Leaf, /) -> float:
        """The bound of the best other optimum of the whole field in a leaf, -inf if none is known."""
