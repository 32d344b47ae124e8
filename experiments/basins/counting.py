"""How many basins a set of samples has reached."""

from __future__ import annotations

import dimod
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

Floats = NDArray[np.float64]
Spins = NDArray[np.int8]

WITHIN = 0.05  # of the lowest energy
DISTANCES = (0.02, 0.1)  # shares of the variables in which two basins differ at least
ROUNDING = 1e-9


class SpinModel:
    """A binary quadratic model over spins (..., n) in the order of its variables."""

    def __init__(self, bqm: dimod.BinaryQuadraticModel) -> None:
        self.variables = list(bqm.variables)
        spins = bqm.change_vartype("SPIN", inplace=False)
        self.fields, (i, j, coupling), self.offset = spins.to_numpy_vectors(variable_order=self.variables)
        n = len(self.variables)
        self.couplings = csr_array((np.tile(coupling, 2), (np.append(i, j), np.append(j, i))), shape=(n, n))

    def spins(self, samples: dimod.SampleSet) -> Spins:
        """(rows, n) the samples as -1 and 1."""
        columns = [samples.variables.index(v) for v in self.variables]
        values = samples.record.sample[:, columns]
        return np.asarray(values if samples.vartype is dimod.SPIN else 2 * values - 1, np.int8)

    def energies(self, spins: Spins) -> Floats:
        """(rows,) energies of the model."""
        return np.asarray((spins * (self.fields + 0.5 * (spins @ self.couplings))).sum(1) + self.offset)

    def descended(self, spins: Spins) -> Spins:
        """The local minima that single flips, tried in turn, reach from each row."""
        x = np.ascontiguousarray(spins.T, np.float64)
        local = self.fields[:, None] + self.couplings @ x
        start, neighbours, weights = self.couplings.indptr, self.couplings.indices, self.couplings.data
        moving = True
        while moving:
            moving = False
            for i in range(len(x)):
                rows = np.flatnonzero(x[i] * local[i] > ROUNDING)  # half of what a flip gains
                if len(rows):
                    part = slice(start[i], start[i + 1])
                    local[neighbours[part][:, None], rows] -= 2 * weights[part][:, None] * x[i, rows]
                    x[i, rows] *= -1
                    moving = True
        return np.ascontiguousarray(x.T, np.int8)


def count_basins(minima: Spins, energies: Floats, lowest: float) -> list[int]:
    """The numbers of minima within 5 % of the lowest energy, for each of `DISTANCES`: lowest first, greedily."""
    near = np.flatnonzero(energies <= lowest + WITHIN * abs(lowest))
    spins = minima[near[np.argsort(energies[near], kind="stable")]].astype(np.float32)
    return [_packed(spins, share * minima.shape[1]) for share in DISTANCES]


def _packed(spins: NDArray[np.float32], fewest: float) -> int:
    count = 0
    while len(spins):
        count += 1
        spins = spins[(spins.shape[1] - spins @ spins[0]) / 2 >= fewest]
    return count
