"""dimod: binary quadratic models as factor graphs, and mixtures of mean fields as a sampler."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mixfield import _arrays
from mixfield.bridges.basins import BasinSearch, basin_weights
from mixfield.energy.factor_graph import FactorGraph
from mixfield.errors import FewerModesWarning, MixfieldError
from mixfield.mixture.deadline import Deadline
from mixfield.mixture.interpretations import SHARE, fewest_changes
from mixfield.mixture.posterior import MixturePosterior
from mixfield.mixture.tree import infer

try:
    import dimod
except ImportError as error:
    raise ImportError("mixfield.bridges.dimod needs dimod: pip install 'mixfield[dimod]'") from error

Ints = NDArray[np.int64]

PRODUCT = {"SPIN": np.array([[1.0, -1.0], [-1.0, 1.0]]), "BINARY": np.array([[0.0, 0.0], [0.0, 1.0]])}
VALUES = {"SPIN": np.array([-1, 1], np.int8), "BINARY": np.array([0, 1], np.int8)}

MOST_CELLS = 32  # modes that are looked for by cuts; further ones are local minima inside their cells
SHARE_OF_CUTS = 0.25  # of the seconds


def from_bqm(bqm: dimod.BinaryQuadraticModel, *, beta: float = 1.0) -> FactorGraph:
    """A binary quadratic model as a factor graph of the same energy.

    Parameters
    ----------
    bqm : over spins or 0 and 1.
    beta : inverse temperature, which multiplies all costs: P(x) ~ exp(-beta E(x)).

    Returns
    -------
    FactorGraph
        Variable k is the k-th of ``bqm.variables``; label 0 is the value 0 or -1, label 1 the value 1.
    """
    if not isinstance(bqm, dimod.BinaryQuadraticModel):
        raise MixfieldError(
            f"bqm must be a dimod.BinaryQuadraticModel, got {type(bqm).__name__}: integer and real variables and "
            "constraints are not supported; see dimod.cqm_to_bqm, or build a FactorGraph.from_factors"
        )
    scale, kind = _arrays.positive("beta", beta), bqm.vartype.name
    linear, (first, second, quadratic), offset = bqm.to_numpy_vectors(variable_order=list(bqm.variables))
    biases = scale * _finite("linear biases", linear)
    couplings = scale * _finite("quadratic biases", quadratic)
    edges = np.stack([first, second], 1).astype(np.int64)
    graph = FactorGraph.from_pairwise(biases[:, None] * VALUES[kind], edges, couplings[:, None, None] * PRODUCT[kind])
    return replace(graph, constant=scale * float(_finite("offset", offset)))


def _finite(what: str, values: Any) -> NDArray[np.float64]:
    array = np.asarray(values, np.float64)
    if not np.isfinite(array).all():
        raise MixfieldError(f"{what} of bqm must be finite, got {array[~np.isfinite(array)].flat[0]}")
    return array


class MixfieldSampler(dimod.Sampler):
    """A dimod sampler that returns the modes of P(x) ~ exp(-beta E(x)), each with its probability.

    Where the mixture of mean fields has fewer modes than asked for, local minima of E follow: at least 2 % of the
    variables apart from each other and from the modes, with energies up to 5 % of the way from the lowest to the mean
    of all states.  The probability of a mode is then shared among the minima in its cell.

    Examples
    --------
    >>> import dimod
    >>> ring = dimod.BinaryQuadraticModel.from_ising({"a": 0.1}, {("a", "b"): -2.0, ("b", "c"): -2.0, ("c", "a"): -2.0})
    >>> answer = MixfieldSampler().sample(ring, n_modes=2)
    >>> answer.record.sample.tolist(), answer.record.energy.round(2).tolist(), answer.record.weight.round(2).tolist()
    ([[-1, -1, -1], [1, 1, 1]], [-6.1, -5.9], [0.55, 0.45])
    """

    @property
    def parameters(self) -> dict[str, Any]:
        """Arguments of `sample`, and the properties relevant to each: none."""
        return {"n_modes": [], "num_reads": [], "beta": [], "seconds": [], "seed": []}

    @property
    def properties(self) -> dict[str, Any]:
        """Nothing depends on a machine."""
        return {}

    def sample(
        self,
        bqm: dimod.BinaryQuadraticModel,
        *,
        n_modes: int = 8,
        num_reads: int | None = None,
        beta: float = 1.0,
        seconds: float | None = None,
        seed: int = 0,
        **unknown: Any,
    ) -> dimod.SampleSet:
        """The modes of a binary quadratic model, or draws from their mixture.

        Parameters
        ----------
        bqm : over spins or 0 and 1.
        n_modes : how many modes and local minima to look for; fewer come back where there are no more.
        num_reads : number of independent draws from the mixture of at most 32 modes; by default one state of each mode
            and local minimum, heaviest first.
        beta : inverse temperature.  Where biases are small, there is one mode at 1 and more at a larger beta.
        seconds : after a quarter of these no further mode is looked for, and after the rest no further minimum; the
            first mode of a large model may take longer.  By default there is no limit.
        seed : of the random numbers; the same seed gives the same samples.
        **unknown : ignored with dimod's warning.

        Returns
        -------
        dimod.SampleSet
            With the energies of dimod, and two vectors: ``basin``, the number of the mode or minimum of each row, and
            ``weight``, the probability of its basin.  ``info["log_z"]`` is the bound of log sum_x exp(-beta E(x)),
            ``info["beta"]`` the inverse temperature, ``info["notes"]`` what a reader should know.
        """
        self.remove_unknown_kwargs(**unknown)
        graph = from_bqm(bqm, beta=beta)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FewerModesWarning)  # the rows tell how many there are
            limit = None if seconds is None else SHARE_OF_CUTS * _arrays.positive("seconds", seconds)
            posterior = infer(graph, min(n_modes, MOST_CELLS), rng=seed, seconds=limit)
        rng = np.random.default_rng(seed)
        if num_reads is None:
            deadline = Deadline(None if seconds is None else (1.0 - SHARE_OF_CUTS) * seconds)
            labels, weight = _basins(graph, posterior, n_modes, rng, deadline)
            basin = np.arange(len(labels))
        else:
            labels, basin = _draws(posterior, _arrays.at_least("num_reads", num_reads, 1), rng)
            weight = posterior.weights[basin]
        answer = dimod.SampleSet.from_samples_bqm(
            (VALUES[bqm.vartype.name][labels], list(bqm.variables)),
            bqm,
            info={"beta": float(beta), "notes": list(posterior.notes)},
            sort_labels=False,
            weight=weight,
            basin=basin,
        )
        answer.info["log_z"] = max(posterior.log_z, -beta * float(answer.record.energy.min()))  # log Z >= -beta E(x)
        return answer


def _basins(
    graph: FactorGraph, posterior: MixturePosterior, count: int, rng: np.random.Generator, deadline: Deadline
) -> tuple[Ints, NDArray[np.float64]]:
    """(rows, n) states of the modes and of further local minima, and (rows,) their probabilities, heaviest first."""
    states = posterior.labelings()
    if len(states) >= count or not posterior.t_max > 0:
        return states, posterior.weights
    search = BasinSearch(graph, posterior.t_max, fewest_changes(SHARE, graph.allowed.sum(1)))
    states, energies = search.run(states, count, rng, deadline)
    weights = basin_weights(posterior, states, energies)
    order = np.argsort(-weights, kind="stable")
    return states[order], weights[order]


def _draws(posterior: MixturePosterior, count: int, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """(count, n) labels drawn from the mixture and (count,) the mode of each."""
    reads = rng.multinomial(count, posterior.weights)
    draws = [
        replace(posterior, modes=(mode,), tree=()).sample(int(n), rng)
        for mode, n in zip(posterior.modes, reads, strict=True)
    ]
    return np.concatenate(draws), np.repeat(np.arange(len(reads)), reads)
