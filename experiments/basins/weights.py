"""Weights of basins against the exact ones of small models, by enumeration of all states."""

from __future__ import annotations

from typing import Any

import dimod
import numpy as np
from numpy.typing import NDArray

from experiments.basins.counting import SpinModel
from experiments.basins.samplers import ANNEALING, OURS, peers
from mixfield.bridges.dimod import MixfieldSampler
from mixfield.energy import FactorGraph
from mixfield.solvers import critical_temperature

COLD = 4.0  # T_max divided by the temperature of the weights
FREQUENCIES, ENERGIES = f"{ANNEALING}, frequencies", f"{ANNEALING}, exp(-beta E)"
METHODS = (OURS, FREQUENCIES, ENERGIES)
CALLS = 50  # of a sampler with 20 reads each


def weight_errors(bqm: dimod.BinaryQuadraticModel, seed: int) -> dict[str, float]:
    """Total variation between weights and exact masses of the basins, by method.

    The mass of a basin is that of all states from which descent leads to its minimum.
    """
    model = SpinModel(bqm)
    beta = COLD / critical_temperature(FactorGraph.from_bqm(bqm))
    n = len(model.variables)
    spins = (2 * ((np.arange(1 << n)[:, None] >> np.arange(n)) & 1) - 1).astype(np.int8)
    energies = model.energies(spins)
    basin_of = _numbers(model.descended(spins))
    masses = np.bincount(basin_of, np.exp(beta * (energies.min() - energies)), 1 << n)
    answer = MixfieldSampler().sample(bqm, n_modes=1000, beta=beta, seed=seed)
    sampler = next(sample for method, setting, sample in peers() if (method, setting) == (ANNEALING, "100 sweeps"))
    reads = basin_of[np.concatenate([_numbers(model.spins(sampler(bqm, seed + k))) for k in range(CALLS)])]
    distinct = np.unique(reads)
    weights = {
        OURS: np.bincount(basin_of[_numbers(model.spins(answer))], answer.record.weight, 1 << n),
        FREQUENCIES: np.bincount(reads, minlength=1 << n),
        ENERGIES: np.bincount(distinct, np.exp(beta * (energies.min() - energies[distinct])), 1 << n),
    }
    return {name: _total_variation(values, masses) for name, values in weights.items()}


def _numbers(spins: NDArray[np.int8]) -> NDArray[np.int64]:
    """Each row of -1 and 1 as an integer."""
    return np.asarray((spins > 0) @ (1 << np.arange(spins.shape[1])))


def _total_variation(a: NDArray[Any], b: NDArray[Any]) -> float:
    return float(0.5 * np.abs(a / a.sum() - b / b.sum()).sum())
