"""Mean field over clusters of variables: each cluster is solved exactly, given the marginals of the others.

The variables of a cluster are eliminated one after the other.  The clique of a variable has an axis for each variable
of its separator and a last axis for itself; its message goes to the clique of the separator's first variable, its
parent.  The *part* of a factor in a cluster are those of its variables that belong to it; they lie in one clique.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from mixfield.kernels.jit import Floats, Int64s, Integer, Real, jit


class FlatClusters(NamedTuple):
    """C cliques in the order of elimination, cluster after cluster, P parts in the same order of clusters, F factors.

    Tables lie one after the other; ``..._start`` says where each begins.
    """

    cluster_clique: Int64s  # (J + 1,) first clique of each cluster
    cluster_part: Int64s  # (J + 1,) first part of each cluster
    clique_start: Int64s  # (C + 1,)
    n_labels: Int64s  # (C,) length of the last axis
    parent: Int64s  # (C,) clique that receives the message, -1 for none
    up_start: Int64s  # (C + 1,)
    up: Int64s  # for each entry of the parent's clique the state of the separator
    part_start: Int64s  # (P + 1,)
    part_clique: Int64s  # (P,) clique that contains the part
    place_start: Int64s  # (P + 1,)
    place: Int64s  # for each entry of that clique the state of the part
    factor: Int64s  # (P,) factor of each part
    state_start: Int64s  # (P + 1,)
    state: Int64s  # for each entry of the factor the state of the part
    value_start: Int64s  # (F + 1,)
    factor_part_start: Int64s  # (F + 1,)
    factor_part: Int64s  # the parts of each factor


@jit()
def ascend(
    flat: FlatClusters, values: Floats, barred: Floats, tolerance: Real, max_rounds: Integer, marginals: Floats,
    conditionals: Floats,
) -> tuple[float, int]:  # fmt: skip
    """Update all clusters in turn until the bound rises by less than ``tolerance``; returns the bound and the rounds.

    ``values`` are the costs of the factors, ``barred`` further costs 0 or inf of the states of parts, ``marginals``
    their probabilities, and ``conditionals`` P(last axis | separator) of the cliques is filled.
    """
    n_clusters = flat.cluster_clique.shape[0] - 1
    entropies, averages, cliques = np.zeros(n_clusters), np.empty_like(marginals), np.empty_like(conditionals)
    bound, rounds, rising = -np.inf, 0, True
    while rising and rounds < max_rounds:
        for j in range(n_clusters):
            entropies[j] = _update(flat, values, barred, j, marginals, conditionals, averages, cliques)
        before, bound = bound, entropies.sum() - expected_cost(flat, values, marginals)
        rising = bound > before + tolerance
        rounds += 1
    return bound, rounds


@jit()
def expected_cost(flat: FlatClusters, values: Floats, marginals: Floats) -> float:
    """Expected sum of all factors; infinite if a forbidden state has any probability."""
    total = 0.0
    for f in range(flat.value_start.shape[0] - 1):
        for t in range(flat.value_start[f + 1] - flat.value_start[f]):
            weight = _weight(flat, marginals, f, t, -1)
            if weight > 0.0:
                total += weight * values[flat.value_start[f] + t]
    return total


@jit()
def _weight(flat: FlatClusters, marginals: Floats, f: Integer, t: Integer, without: Integer) -> float:
    """Probability of entry t of factor f, the part ``without`` left out."""
    weight = 1.0
    for k in range(flat.factor_part_start[f], flat.factor_part_start[f + 1]):
        part = flat.factor_part[k]
        if part != without:
            weight *= marginals[flat.part_start[part] + flat.state[flat.state_start[part] + t]]
    return weight


@jit()
def _update(
    flat: FlatClusters, values: Floats, barred: Floats, j: Integer, marginals: Floats, conditionals: Floats,
    averages: Floats, cliques: Floats,
) -> float:  # fmt: skip
    """Solve cluster j exactly; returns its entropy log Z_j + E[averages]."""
    first, last = flat.cluster_clique[j], flat.cluster_clique[j + 1]
    cliques[flat.clique_start[first] : flat.clique_start[last]] = 0.0
    for part in range(flat.cluster_part[j], flat.cluster_part[j + 1]):
        _average(flat, values, barred, part, marginals, averages)
        start, own, clique = flat.part_start[part], flat.place_start[part], flat.clique_start[flat.part_clique[part]]
        for c in range(flat.place_start[part + 1] - own):
            cliques[clique + c] -= averages[start + flat.place[own + c]]
    entropy = 0.0
    for e in range(first, last):
        entropy += _eliminate(flat, e, cliques, conditionals)
    for e in range(last - 1, first - 1, -1):
        _distribute(flat, e, conditionals, cliques)
    for part in range(flat.cluster_part[j], flat.cluster_part[j + 1]):
        start, own, clique = flat.part_start[part], flat.place_start[part], flat.clique_start[flat.part_clique[part]]
        marginals[start : flat.part_start[part + 1]] = 0.0
        for c in range(flat.place_start[part + 1] - own):
            marginals[start + flat.place[own + c]] += cliques[clique + c]
        for s in range(start, flat.part_start[part + 1]):
            if marginals[s] > 0.0:
                entropy += marginals[s] * averages[s]
    return entropy


@jit()
def _average(
    flat: FlatClusters, values: Floats, barred: Floats, part: Integer, marginals: Floats, averages: Floats
) -> None:
    """The costs of the states of a part, its factor averaged over the other parts."""
    start, f, own = flat.part_start[part], flat.factor[part], flat.state_start[part]
    for s in range(start, flat.part_start[part + 1]):
        averages[s] = barred[s]
    for t in range(flat.state_start[part + 1] - own):
        weight = _weight(flat, marginals, f, t, part)
        if weight > 0.0:
            averages[start + flat.state[own + t]] += weight * values[flat.value_start[f] + t]


@jit()
def _eliminate(flat: FlatClusters, e: Integer, cliques: Floats, conditionals: Floats) -> float:
    """Fill P(last axis | separator), and add the message to the parent; without one, returns its only entry."""
    start, n_labels, parent = flat.clique_start[e], flat.n_labels[e], flat.parent[e]
    n_states = (flat.clique_start[e + 1] - start) // n_labels
    message = np.empty(n_states)
    for s in range(n_states):
        message[s] = _normalise(cliques, start + s * n_labels, n_labels, conditionals)
    if parent < 0:
        return message[0]
    clique, up = flat.clique_start[parent], flat.up_start[e]
    for c in range(flat.up_start[e + 1] - up):
        cliques[clique + c] += message[flat.up[up + c]]
    return 0.0


@jit()
def _normalise(logs: Floats, first: Integer, count: Integer, out: Floats) -> float:
    """Log of the sum of exponentials of some entries, and their shares; uniform where all are zero."""
    top = -np.inf
    for i in range(first, first + count):
        top = max(top, logs[i])
    if top == -np.inf:
        out[first : first + count] = 1.0 / count
        return top
    mass = 0.0
    for i in range(first, first + count):
        out[i] = math.exp(logs[i] - top)
        mass += out[i]
    for i in range(first, first + count):
        out[i] /= mass
    return top + math.log(mass)


@jit()
def _distribute(flat: FlatClusters, e: Integer, conditionals: Floats, cliques: Floats) -> None:
    """Replace a clique by its joint distribution, that of its parent being known."""
    start, n_labels, parent = flat.clique_start[e], flat.n_labels[e], flat.parent[e]
    separator = np.zeros((flat.clique_start[e + 1] - start) // n_labels)
    if parent < 0:
        separator[0] = 1.0
    else:
        clique, up = flat.clique_start[parent], flat.up_start[e]
        for c in range(flat.up_start[e + 1] - up):
            separator[flat.up[up + c]] += cliques[clique + c]
    for s in range(separator.shape[0]):
        for l in range(n_labels):
            at = start + s * n_labels + l
            cliques[at] = separator[s] * conditionals[at]
