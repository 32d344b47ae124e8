"""Loopy belief propagation with damping, and the Bethe approximation of log Z.

Messages in the probability domain, all factors at once; each new message is mixed with the one before,
m <- (1 - d) m_new + d m.  At the end

    log Z ~ sum_f (H(b_f) - E_{b_f}[cost_f]) + sum_i (1 - d_i) H(b_i),      d_i the number of factors with i,

which is exact on trees and neither an upper nor a lower bound elsewhere (Yedidia, Freeman and Weiss 2005).
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mixfield._simplex import softmax
from mixfield.energy.factor_graph import FactorGraph

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

SMALLEST = 1e-300
FORBIDDEN_COST, LEAST = 50.0, 1e-12  # of states and labels that a mean field excludes: zero would stay zero


@dataclass(frozen=True, eq=False)
class Bethe:
    """Where belief propagation ended.

    Attributes
    ----------
    log_z : the Bethe approximation.
    marginals : (n, L) beliefs of the variables.
    tables : beliefs (F, *shape) of factors with tables of one shape, and their variables (F, a).
    converged : whether the last round changed no message by more than the tolerance.
    iterations : rounds.
    """

    log_z: float
    marginals: Floats
    tables: list[tuple[Ints, Floats]]
    converged: bool
    iterations: int

    def dependence(self) -> Floats:
        """(n,) mutual information of each variable and the others of a factor, summed over its factors."""
        total = np.zeros(len(self.marginals))
        for scopes, joint in self.tables:
            for axis in range(scopes.shape[1]):
                others = tuple(a for a in range(1, joint.ndim) if a != axis + 1)
                product = joint.sum(others, keepdims=True) * joint.sum(axis + 1, keepdims=True)
                terms = joint * np.log(np.maximum(joint, SMALLEST) / np.maximum(product, SMALLEST))
                np.add.at(total, scopes[:, axis], terms.reshape(len(joint), -1).sum(1))
        return np.nan_to_num(total)


def belief_propagation(
    graph: FactorGraph,
    *,
    start: Floats | None = None,
    iterations: int = 500,
    damping: float = 0.5,
    tolerance: float = 1e-6,
) -> Bethe:
    """Belief propagation from uniform messages, or from those of a mean field.

    Parameters
    ----------
    graph : whose log Z is approximated.
    start : (n, L) marginals q; messages begin at exp(-E_q[cost_f | x_i]), so that of several fixed points one near q is
        found.
    iterations : largest number of rounds.
    damping : share of the old message in the next.
    tolerance : change of messages below which rounds end.
    """
    layout = _Layout.of(graph)
    messages = layout.uniform() if start is None else layout.mean_field_messages(start)
    change, rounds = np.inf, 0
    with np.errstate(over="ignore", invalid="ignore"):
        while change > tolerance and rounds < iterations:
            fresh = layout.updated(messages)
            change = float(np.abs(fresh - messages).max(initial=0.0))
            messages = (1.0 - damping) * fresh + damping * messages
            rounds += 1
        log_z, marginals, tables = layout.bethe(messages)
    return Bethe(log_z - graph.constant, marginals, tables, change <= tolerance and bool(np.isfinite(log_z)), rounds)


@dataclass(frozen=True, eq=False)
class _Batch:
    """Factors whose tables have the same shape.

    Attributes
    ----------
    scopes : (F, a) variables.
    costs, potentials : (F, *shape) tables, and exp(-cost) with maximum 1.
    messages : (F, a) message numbers.
    """

    scopes: Ints
    costs: Floats
    potentials: Floats
    messages: Ints

    def times(self, table: Floats, rows: Floats, without: int = -1) -> Floats:
        """(F, *shape) a table times one row of each axis but ``without``; ``rows`` are numbered as messages."""
        arity = self.scopes.shape[1]
        for axis in range(arity):
            if axis != without:
                size = self.costs.shape[axis + 1]
                shape = [len(table)] + [size if a == axis else 1 for a in range(arity)]
                table = table * rows[self.messages[:, axis], :size].reshape(shape)
        return table

    def others(self, axis: int) -> tuple[int, ...]:
        """The axes of a table that are summed over for a message to the variable of ``axis``."""
        return tuple(a + 1 for a in range(self.scopes.shape[1]) if a != axis)


@dataclass(frozen=True, eq=False)
class _Layout:
    """The factors of a graph in batches, and the numbers of the messages from factors to variables.

    Attributes
    ----------
    batches : the factors.
    owner : (M,) the variable of each message.
    exists : (n, L) labels of each variable.
    """

    batches: list[_Batch]
    owner: Ints
    exists: Bools

    @classmethod
    def of(cls, graph: FactorGraph) -> _Layout:
        by_shape = defaultdict(list)
        for scope, table in graph.factors():
            if scope:
                by_shape[table.shape].append((scope, table))
        batches: list[_Batch] = []
        owner: list[int] = []
        for members in by_shape.values():
            scopes, costs = np.array([scope for scope, _ in members]), np.stack([table for _, table in members])
            axes = tuple(range(1, costs.ndim))
            messages = len(owner) + np.arange(scopes.size).reshape(scopes.shape)
            batches.append(_Batch(scopes, costs, np.exp(costs.min(axes, keepdims=True) - costs), messages))
            owner += scopes.ravel().tolist()
        return cls(batches, np.array(owner, np.int64), np.arange(graph.n_labels) < graph.label_counts[:, None])

    def uniform(self) -> Floats:
        """(M, L) messages without information."""
        return np.asarray(self.exists[self.owner] / self.exists.sum(1)[self.owner, None])

    def mean_field_messages(self, q: Floats) -> Floats:
        """(M, L) messages exp(-E_q[cost | x_i]) of marginals (n, L)."""
        messages, rows = np.zeros((len(self.owner), self.exists.shape[1])), q[self.owner]
        for batch in self.batches:
            costs = np.minimum(batch.costs, FORBIDDEN_COST)
            for axis in range(batch.scopes.shape[1]):
                expected = batch.times(costs, rows, axis).sum(batch.others(axis))
                out = np.maximum(np.exp(expected.min(1, keepdims=True) - expected), LEAST)
                messages[batch.messages[:, axis], : out.shape[1]] = out / out.sum(1, keepdims=True)
        return messages

    def updated(self, messages: Floats) -> Floats:
        """(M, L) all messages from factors to variables, normalised."""
        incoming, _ = self._incoming(messages)
        fresh = np.zeros_like(messages)
        for batch in self.batches:
            for axis in range(batch.scopes.shape[1]):
                out = batch.times(batch.potentials, incoming, axis).sum(batch.others(axis))
                fresh[batch.messages[:, axis], : out.shape[1]] = out / np.maximum(out.sum(1, keepdims=True), SMALLEST)
        return fresh

    def bethe(self, messages: Floats) -> tuple[float, Floats, list[tuple[Ints, Floats]]]:
        """The Bethe approximation of log Z without the constant, (n, L) beliefs, and beliefs of the factors."""
        incoming, beliefs = self._incoming(messages)
        log_z, tables = 0.0, []
        for batch in self.batches:
            joint = batch.times(batch.potentials, incoming)
            joint = joint / np.maximum(joint.sum(batch.others(-1), keepdims=True), SMALLEST)
            log_z += _entropies(joint).sum() - float(np.where(np.isinf(batch.costs), 0.0, joint * batch.costs).sum())
            tables.append((batch.scopes, joint))
        degree = np.bincount(self.owner, minlength=len(self.exists))
        return float(log_z + ((1 - degree) * _entropies(beliefs)).sum()), beliefs, tables

    def _incoming(self, messages: Floats) -> tuple[Floats, Floats]:
        """Messages from variables to factors (M, L), and beliefs of variables (n, L)."""
        logs = np.log(np.maximum(messages, SMALLEST))
        total = np.zeros(self.exists.shape)
        np.add.at(total, self.owner, logs)
        total = np.where(self.exists, total, -np.inf)
        return softmax(total[self.owner] - logs), softmax(total)


def _entropies(beliefs: Floats) -> Floats:
    """(F,) of tables (F, ...)."""
    terms = beliefs * np.log(np.maximum(beliefs, SMALLEST))
    return np.asarray(-terms.reshape(len(terms), -1).sum(1))
