"""The mixture Q = sum_k m_k Q_k (eq. 4 of the paper): weights, marginals, samples, densities."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from importlib import import_module
from os import PathLike
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mixfield import _arrays, _simplex, _threads
from mixfield.energy.active_labels import restored
from mixfield.mixture import archive
from mixfield.mixture.calibration import Calibration
from mixfield.mixture.node import Node
from mixfield.solvers.mode import Mode

Floats = NDArray[np.float64]

LISTED = 8  # weights in the text of a posterior
ONE_HOT = 0.999  # weight of a mode beyond which those of the others are negligible


@dataclass(frozen=True, eq=False)
class MixturePosterior:
    """Several complete interpretations of the same evidence, each with its probability.

    Attributes
    ----------
    modes : the mean fields, heaviest first; with a calibration the root mode first, then the most useful.
    tree : the cuts that separate them.
    t_max : temperature above which the field has one mode.
    notes : what a reader of the result should know, the texts of the warnings that came with it.
    calibration : calibrated weights and how marginals are blended with the evidence; None where the weights are those
        of the paper.
    exact_log_z : log Z, where the field is so small that it was computed; None elsewhere.
    log_z_estimate : log Z by belief propagation inside the cells, which may be above or below it; None unless
        ``mf.infer(..., estimate=True)`` asked for it.
    narrowed_tables : variables of tables with forbidden states of which the heaviest mode leaves allowed states out,
        and about how many nats that costs, largest first.
    best : (*shape) the labeling of lowest energy that was seen, and ``map_energy`` its energy; None and NaN where
        energies were not computed.
    """

    modes: tuple[Mode, ...]
    tree: tuple[Node, ...] = ()
    t_max: float = float("nan")
    notes: tuple[str, ...] = ()
    calibration: Calibration | None = None
    exact_log_z: float | None = None
    log_z_estimate: float | None = None
    narrowed_tables: tuple[tuple[tuple[int, ...], float], ...] = ()
    best: NDArray[np.int64] | None = None
    map_energy: float = float("nan")

    def __repr__(self) -> str:
        listed = [f"{weight:.4g}" for weight in self.weights[:LISTED]] + ["..."] * (len(self.modes) > LISTED)
        notes = f", notes={list(self.notes)}" if self.notes else ""
        exact = "" if self.exact_log_z is None else f", exact_log_z={self.exact_log_z:.6g}"
        return (
            f"MixturePosterior({len(self.modes)} modes of {self.shape} variables with "
            f"{self.modes[0].marginals.shape[-1]} labels, weights=[{', '.join(listed)}], "
            f"log_z={self.log_z:.6g}{exact}{notes})"
        )

    @cached_property
    def _bounds(self) -> Floats:
        return np.array([mode.log_z for mode in self.modes])

    @property
    def weights(self) -> Floats:
        """(K,) weights of the mixture, which sum to one: calibrated ones, or `model_weights` where there are none."""
        return self.model_weights if self.calibration is None else self.calibration.weights

    @property
    def model_weights(self) -> Floats:
        """(K,) m_k = exp(A_k) / sum exp(A_k) (eq. 11)."""
        if np.isneginf(self._bounds).all():
            return np.full(len(self.modes), 1.0 / len(self.modes))
        return _simplex.softmax(self._bounds)

    @property
    def is_one_hot(self) -> bool:
        """Whether `model_weights` give one of several modes nearly all."""
        return len(self.modes) > 1 and bool(self.model_weights.max() > ONE_HOT)

    @property
    def log_z(self) -> float:
        """log Z~ = log sum_k exp(A_k), with strict cuts a lower bound of log Z."""
        return float(_simplex.log_sum_exp(self._bounds))

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the field of variables."""
        return self.modes[0].marginals.shape[:-1]

    @property
    def root_mode(self) -> int:
        """Which mode is the mean field of the whole field; 0 where the tree is not known."""
        root = self.tree[0].log_z if self.tree else self.modes[0].log_z
        return int(np.argmin([min(abs(c.log_z - root) for _, c in mode.components()) for mode in self.modes]))

    def mode_marginals(self, k: int) -> Floats:
        """(*shape, L) marginals of one mode in the mixture: its mean field, blended with the evidence if calibrated."""
        return self._blended(self.modes[k])

    def _blended(self, mode: Mode) -> Floats:
        return mode.marginals if self.calibration is None else self.calibration.blend(mode.marginals)

    @property
    def _cells(self) -> tuple[Floats, list[Mode]]:
        """Weights and modes of single cells: the product distributions of which the mixture consists."""
        parts = [
            (weight * share, cell)
            for weight, mode in zip(self.weights, self.modes, strict=True)
            for share, cell in mode.components()
        ]
        return np.array([weight for weight, _ in parts]), [cell for _, cell in parts]

    def marginals(self, weights: ArrayLike | None = None) -> Floats:
        """(*shape, L) marginals of the mixture, with its own weights or others (K,)."""
        shares = self.weights if weights is None else _arrays.floats("weights", weights)
        _arrays.check_shape("weights", shares, (len(self.modes),), "= one weight per mode")
        total = np.zeros(self.modes[0].marginals.shape)
        for k, share in enumerate(shares):
            if share > 0:
                total += share * self.mode_marginals(k)
        return total

    def labelings(self) -> NDArray[np.int64]:
        """(K, *shape) most probable labels of each mode."""
        return np.stack([mode.labeling() for mode in self.modes])

    def map(self) -> NDArray[np.int64]:
        """(*shape) the labeling of lowest energy known, ``map_energy``; without energies that of the heaviest mode."""
        return self.modes[0].labeling() if self.best is None else self.best

    def sample(self, n: int, rng: int | np.random.Generator = 0) -> NDArray[np.int64]:
        """(n, *shape) independent draws from the mixture."""
        _arrays.at_least("n", n, 0)
        generator = _arrays.generator(rng)
        draws = np.empty((n, *self.shape), np.int64)
        weights, cells = self._cells
        chosen = generator.choice(len(cells), n, p=weights)
        for k in np.unique(chosen):
            rows = np.flatnonzero(chosen == k)
            marginals, given = self._blended(cells[k]), cells[k].conditionals
            if given is None:
                draws[rows] = _drawn(marginals, len(rows), generator)
            else:
                kept = given.kept_marginals(marginals.reshape(-1, marginals.shape[-1]))
                x = given.sample(_drawn(kept, len(rows), generator), generator)
                draws[rows] = x.reshape(len(rows), *self.shape)
        return draws

    def log_prob(self, x: ArrayLike) -> Floats:
        """log Q(x) of one labeling (*shape) or many (..., *shape)."""
        n_labels = self.modes[0].marginals.shape[-1]
        labels = _arrays.integers("x", x, low=0, high=n_labels)
        lead = labels.shape[: labels.ndim - len(self.shape)]
        _arrays.check_shape("x", labels, (*lead, *self.shape), "ending in the shape of the field")
        flat = labels.reshape(math.prod(lead), -1)
        weights, cells = self._cells
        with np.errstate(divide="ignore"):
            terms = [w + self._cell_log_prob(cell, flat) for w, cell in zip(np.log(weights), cells, strict=True)]
        return _simplex.log_sum_exp(np.stack(terms)).reshape(lead)

    def _cell_log_prob(self, cell: Mode, x: NDArray[np.int64]) -> Floats:
        """(N,) log Q_k of labelings (N, n)."""
        marginals, given = self._blended(cell), cell.conditionals
        log = np.log(marginals.reshape(-1, marginals.shape[-1]))
        variables = np.arange(len(log)) if given is None else given.kept
        product = log[variables, x[:, variables]].sum(-1)
        if given is None:
            return np.asarray(product)
        here, exists = given.reduce(x)
        return np.where(exists, product + given.log_prob(here), -np.inf)

    def with_modes(self, modes: Sequence[Mode]) -> MixturePosterior:
        """The posterior with other modes (K,) of the same cells, heaviest first."""
        order = sorted(range(len(modes)), key=lambda k: -modes[k].log_z)
        rank = {k: place for place, k in enumerate(order)}
        tree = tuple(
            node if node.mode < 0 else replace(node, mode=rank[node.mode], log_z=modes[node.mode].log_z)
            for node in self.tree
        )
        return replace(self, modes=tuple(modes[k] for k in order), tree=tree)

    def with_labels(self, labels: NDArray[np.int64], n_labels: int) -> MixturePosterior:
        """The same posterior when its labels are ``labels`` of ``n_labels``, the others having probability zero."""
        constraints = [c for mode in self.modes for c in mode.constraints]
        constraints += [node.constraint for node in self.tree if node.constraint is not None]
        renamed = {c: replace(c, labels=labels[c.labels]) for c in dict.fromkeys(constraints)}

        def relabelled(k: int) -> Mode:
            mode = self.modes[k]
            marginals = restored(mode.marginals, labels, n_labels)
            return replace(mode, marginals=marginals, constraints=tuple(renamed[c] for c in mode.constraints))

        count, size = len(self.modes), sum(mode.marginals.size for mode in self.modes)
        modes = _threads.each(relabelled, count, _threads.available(), updates=size)
        tree = tuple(
            node if (c := node.constraint) is None else replace(node, constraint=renamed[c]) for node in self.tree
        )
        return replace(self, modes=tuple(modes), tree=tree)

    def plot(self, image: ArrayLike | None = None, *, axes: Sequence[Any] | None = None) -> Any:
        """Draw the modes with matplotlib, one panel each, and return the figure.

        Parameters
        ----------
        image : drawn under fields over its pixels.
        axes : one per mode, if not a new figure.
        """
        return _notebook().plot(self, image, axes)

    def _repr_html_(self) -> str:
        """Thumbnails and weights, for notebooks."""
        return str(_notebook().card(self))

    def save(self, path: str | PathLike[str], *, compact: bool = False) -> None:
        """Write the posterior to a compressed ``.npz`` file without pickles; `mixfield.load` reads it back.

        Parameters
        ----------
        path : of the file.
        compact : marginals in 16 bits, off by less than 1e-4, with the same most probable labels; a segmentation then
            takes about a megabyte.  By default they are exact.
        """
        archive.write(path, self, compact=compact)


def _drawn(marginals: Floats, n: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """(n, *shape) labels drawn from marginals (*shape, L)."""
    cumulative = np.cumsum(marginals, axis=-1)
    uniform = rng.random((n, *marginals.shape[:-1])) * cumulative[..., -1]
    return np.asarray((uniform[..., None] >= cumulative).sum(-1))


def _notebook() -> ModuleType:
    """The module that draws posteriors, loaded by name: reports import posteriors, not the other way round."""
    return import_module("mixfield.reports.notebook")


def load(path: str | PathLike[str]) -> MixturePosterior:
    """Read a posterior written by `MixturePosterior.save`."""
    return MixturePosterior(**archive.read(path))
