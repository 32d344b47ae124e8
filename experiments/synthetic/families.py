"""The families of random fields of section 7.1 of the paper."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

from mixfield.datasets import random_ising
from mixfield.energy import FactorGraph


@dataclass(frozen=True)
class Family:
    """Ising models with random couplings and fields.

    Attributes
    ----------
    size : number of variables along a side of the grid.
    preset : ranges of couplings and fields, see `mixfield.datasets.random_ising`.
    attractive : whether all couplings are positive.
    topology : "grid", or "random" for a random graph with as many edges.
    """

    size: int
    preset: str
    attractive: bool
    topology: str

    @property
    def name(self) -> str:
        return f"{self.size}x{self.size}-{self.sign}-{self.topology}-{self.preset}"

    @property
    def sign(self) -> str:
        return "attractive" if self.attractive else "mixed"

    def draw(self, instance: int) -> FactorGraph:
        """The field with seed ``instance``."""
        return random_ising(
            self.size, preset=self.preset, attractive=self.attractive, topology=self.topology, rng=instance
        )


def families(presets: Sequence[str] = ("mmmf", "weller"), sizes: Sequence[int] = (13, 7)) -> list[Family]:
    """All combinations of size, preset, topology and sign."""
    combinations = product(sizes, presets, ("grid", "random"), (False, True))
    return [Family(size, preset, attractive, topology) for size, preset, topology, attractive in combinations]
