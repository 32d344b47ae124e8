"""How many members of a group take their label: sums of independent binary variables (Poisson-binomial).

``p`` (s,) are the probabilities that each of s members takes its label.  A count potential costs ``weight`` where at
least ``threshold`` of the members do; its derivative by p_u is the weight times the probability that exactly
``threshold - 1`` of the others do.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mixfield.kernels.jit import AnyFloats, Bools, Floats, Int32s, Int64s, Integer, jit


class FlatCounts(NamedTuple):
    """Potentials ``weight * [count >= threshold]`` of several modes.

    Those of mode k are ``mode_start[k]:mode_start[k + 1]``; the members of potential c, and the label that each is
    counted for, are ``member_start[c]:member_start[c + 1]`` of ``member`` and ``label``.
    """

    mode_start: Int32s
    member_start: Int32s
    member: Int32s
    label: Int32s
    threshold: Int32s
    weight: Floats


@jit()
def moments(q: AnyFloats, member: Int64s, label: Int64s) -> tuple[int, int, float, float]:
    """Of the probabilities ``q[member, label]``, member and label (s,): how many are 1, and how many lie between 0 and
    1; mean and variance of the count of the latter."""
    certain, open_, mean, variance = 0, 0, 0.0, 0.0
    for u in range(len(member)):
        p = np.float64(q[member[u], label[u]])
        if p == 1.0:
            certain += 1
        elif p > 0.0:
            open_ += 1
            mean += p
            variance += p * (1.0 - p)
    return certain, open_, mean, variance


@jit()
def choices(allowed: Bools, member: Int64s, label: Int64s) -> tuple[int, int]:
    """How many members (s,) must have their label (s,), and how many may have it or another, of those ``allowed``
    (n, L)."""
    must, may = 0, 0
    for u in range(len(member)):
        others = False
        for l in range(allowed.shape[1]):
            others |= allowed[member[u], l] and l != label[u]
        must += allowed[member[u], label[u]] and not others
        may += allowed[member[u], label[u]] and others
    return must, may


@jit()
def distribution(p: Floats, out: Floats) -> None:
    """Fill ``out`` (s + 1,) with the probability of each count."""
    out[:] = 0.0
    out[0] = 1.0
    for u in range(p.shape[0]):
        for c in range(u + 1, 0, -1):
            out[c] = out[c] * (1.0 - p[u]) + out[c - 1] * p[u]
        out[0] *= 1.0 - p[u]


@jit()
def side(p: Floats, count: Integer, above: bool) -> float:
    """Probability of ``count`` or more (``above``), or of fewer, from the smaller of both sums."""
    law = np.empty(p.shape[0] + 1)
    distribution(p, law)
    inside, outside = 0.0, 0.0
    for c in range(law.shape[0]):
        if (c >= count) == above:
            inside += law[c]
        else:
            outside += law[c]
    return inside if inside < outside else 1.0 - outside


@jit()
def pivotal(p: Floats, counts: Floats, threshold: Integer, out: Floats) -> None:
    """Fill ``out`` (s,) with the probability, for each member, that ``threshold - 1`` of the others take their label.

    ``counts`` (s + 1,) is the `distribution` of the whole group.  The member is divided out of it, from the end that
    does not amplify errors.
    """
    target = threshold - 1
    size = p.shape[0]
    for u in range(size):
        without = 0.0
        if target < 0 or target > size - 1:
            out[u] = 0.0
        elif p[u] <= 0.5:
            for c in range(target + 1):
                without = (counts[c] - p[u] * without) / (1.0 - p[u])
            out[u] = max(without, 0.0)
        else:
            for c in range(size, target, -1):
                without = (counts[c] - (1.0 - p[u]) * without) / p[u]
            out[u] = max(without, 0.0)


@jit()
def decides(p: Floats, skip: Integer, threshold: Integer, work: Floats) -> float:
    """Probability that ``threshold - 1`` of the members other than ``skip`` take their label; ``work`` (s + 1,)."""
    size = p.shape[0]
    target = threshold - 1
    if target < 0 or target > size - 1:
        return 0.0
    if target == 0 or target == size - 1:  # closed forms of "at least one" and "all"
        product = 1.0
        for u in range(size):
            if u != skip:
                product *= p[u] if target > 0 else 1.0 - p[u]
        return product
    work[: target + 1] = 0.0
    work[0] = 1.0
    for u in range(size):
        if u != skip:
            for c in range(target, 0, -1):
                work[c] = work[c] * (1.0 - p[u]) + work[c - 1] * p[u]
            work[0] *= 1.0 - p[u]
    return float(work[target])


@jit()
def member_decides(q: Floats, member: Int32s, label: Int32s, skip: Integer, threshold: Integer, work: Floats) -> float:
    """`decides` for the members of a group in marginals ``q`` (n, L); member and label (s,), work (2 s + 1,)."""
    size = member.shape[0]
    votes = work[size + 1 :]
    for u in range(size):
        votes[u] = q[member[u], label[u]]
    return decides(votes[:size], skip, threshold, work)
