"""Loopy belief propagation with damping: the control for log Z of UAI models.

Messages in the probability domain, all factors at once; each new message is mixed with the one before,
m <- (1 - d) m_new + d m.  The answer is the Bethe approximation

    log Z = sum_f (H(b_f) - E_{b_f}[cost_f]) + sum_i (1 - d_i) H(b_i),      d_i the number of factors with i.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mixfield.energy import FactorGraph

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

SMALLEST = 1e-300


@dataclass(frozen=True)
class _Batch:
    """Factors whose tables have the same shape.

    Attributes
    ----------
    scopes : (F, a) variables.
    costs, potentials : (F, *shape) tables, and exp(-cost) with maximum 1.
    first : message number of the first axis of the first factor; factor f, axis a has ``first + f * arity + a``.
    """

    scopes: Ints
    costs: Floats
    potentials: Floats
    first: int

    @property
    def messages(self) -> Ints:
        """(F, a) message numbers."""
        return self.first + np.arange(self.scopes.size).reshape(self.scopes.shape)


def damped_log_z(graph: FactorGraph, *, iterations: int = 500, damping: float = 0.5, tolerance: float = 1e-8) -> float:
    """The Bethe approximation of log Z after at most ``iterations`` rounds."""
    batches, owner = _batches(graph)
    exists = np.arange(graph.n_labels) < graph.label_counts[:, None]
    messages = exists[owner] / graph.label_counts[owner, None]  # from factors to variables, (M, L)
    for _ in range(iterations):
        fresh = _round(batches, owner, exists, messages)
        change = float(np.abs(fresh - messages).max(initial=0.0))
        messages = (1.0 - damping) * fresh + damping * messages
        if change < tolerance:
            break
    return _bethe(graph, batches, owner, exists, messages)


def _batches(graph: FactorGraph) -> tuple[list[_Batch], Ints]:
    """Factors by the shape of their tables, and (M,) the variable of each message."""
    by_shape = defaultdict(list)
    for scope, table in graph.factors():
        if scope:
            by_shape[table.shape].append((scope, table))
    batches: list[_Batch] = []
    owner: list[int] = []
    for members in by_shape.values():
        scopes, costs = np.array([scope for scope, _ in members]), np.stack([table for _, table in members])
        axes = tuple(range(1, costs.ndim))
        batches.append(_Batch(scopes, costs, np.exp(costs.min(axes, keepdims=True) - costs), len(owner)))
        owner += scopes.ravel().tolist()
    return batches, np.array(owner, np.int64)


def _incoming(owner: Ints, exists: NDArray[np.bool_], messages: Floats) -> tuple[Floats, Floats]:
    """Messages from variables to factors (M, L), and beliefs of variables (n, L)."""
    logs = np.log(np.maximum(messages, SMALLEST))
    total = np.zeros(exists.shape)
    np.add.at(total, owner, logs)
    total = np.where(exists, total, -np.inf)
    return _normalised(total[owner] - logs), _normalised(total)


def _normalised(logs: Floats) -> Floats:
    values = np.exp(logs - logs.max(-1, keepdims=True))
    return np.asarray(values / values.sum(-1, keepdims=True))


def _weighted(batch: _Batch, incoming: Floats, without: int) -> Floats:
    """Potentials times the incoming messages of all axes but ``without``, (F, *shape)."""
    product = batch.potentials
    for axis in range(batch.scopes.shape[1]):
        if axis != without:
            size = batch.costs.shape[axis + 1]
            shape = [len(product)] + [size if a == axis else 1 for a in range(batch.scopes.shape[1])]
            product = product * incoming[batch.messages[:, axis], :size].reshape(shape)
    return product


def _round(batches: list[_Batch], owner: Ints, exists: NDArray[np.bool_], messages: Floats) -> Floats:
    """All messages from factors to variables, normalised."""
    incoming, _ = _incoming(owner, exists, messages)
    fresh = np.zeros_like(messages)
    for batch in batches:
        for axis in range(batch.scopes.shape[1]):
            others = tuple(a + 1 for a in range(batch.scopes.shape[1]) if a != axis)
            out = _weighted(batch, incoming, axis).sum(others)
            fresh[batch.messages[:, axis], : out.shape[1]] = out / np.maximum(out.sum(1, keepdims=True), SMALLEST)
    return fresh


def _entropy(belief: Floats) -> float:
    return float(-(belief * np.log(np.maximum(belief, SMALLEST))).sum())


def _bethe(
    graph: FactorGraph, batches: list[_Batch], owner: Ints, exists: NDArray[np.bool_], messages: Floats
) -> float:
    incoming, beliefs = _incoming(owner, exists, messages)
    log_z = -graph.constant
    for batch in batches:
        joint = _weighted(batch, incoming, -1)
        total = joint.sum(tuple(range(1, joint.ndim)), keepdims=True)
        joint = joint / np.maximum(total, SMALLEST)
        log_z += _entropy(joint) - float((joint * np.where(np.isinf(batch.costs), 0.0, batch.costs)).sum())
    degree = np.bincount(owner, minlength=graph.n)
    return log_z + sum((1 - d) * _entropy(belief) for d, belief in zip(degree.tolist(), beliefs, strict=True))
