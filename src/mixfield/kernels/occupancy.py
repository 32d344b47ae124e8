"""Updates of the probabilities of empty cells, all cells at once: POM's iteration, and a faster one.

    a_n <- a_n + r_n (1 / (1 + exp(logit_n / T)) - a_n)

The released program has r = 0.2 for all cells and updates.  With ``adaptive`` rates, r_n falls when a_n turns and
recovers as long as it moves in one direction (Jacobs 1988), so that oscillations die out.  An update adds at most as
many people as the prior expects: an empty ground would otherwise be filled by the first update, since every person
explains the same silhouettes, and emptied by the next forty.  As soon as few cells move, most updates are of these
alone (`restricted`) and faster; cells that hardly move take their target at once, for there are many of them.  Fixed
points and the test of convergence, in updates of all cells, are the same.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from mixfield.kernels.counts import FlatCounts, member_decides
from mixfield.kernels.jit import Bools, Floats, Int32s, Integer, Real, UInt32s, jit
from mixfield.kernels.silhouettes import (
    EMPTIEST,
    Views,
    average_image,
    exponential,
    field,
    largest,
    merge_heights,
    uncovered,
)

FASTER, SLOWER = 1.2, 0.7  # factors of a rate
LOWEST, HIGHEST, HIGHEST_OF_FEW = 0.02, 0.2, 0.8  # rates, the last as soon as few cells move
STILL = 0.1  # of the tolerance: cells that move by less take their target, and may be left out of some updates
FEW = 0.25  # share of the cells below which an update of those that move is worth its preparation
SERIES = 10  # updates of the same cells


class Rule(NamedTuple):
    """How cells are updated, and for how long."""

    rate: float  # the first r_n, in units of which moves are measured
    adaptive: bool
    tolerance: float
    patience: int  # updates in a row that move nothing by ``tolerance`` when a run has converged
    max_updates: int


class State(NamedTuple):
    """The state of a run and its work memory."""

    empty: Floats  # (N,) a_n
    rate: Floats  # (N,) r_n
    step: Floats  # (N,) the last target minus a_n
    share: Floats  # (N, H) r_nh
    costs: Floats  # (N, 1 + H)
    logit: Floats  # (N,), by place in the list of cells, as the next two
    size: Floats
    e: Floats
    images: Floats  # (3, largest image)
    work: Floats  # (2 N + 2,)


@jit()
def ascend(
    views: Views, prior: Floats, bias: Floats, bias_of: Int32s, counts: FlatCounts, temperature: Floats, rule: Rule,
    first: Integer, last: Integer, q: Floats, iterations: Int32s, changes: Floats, converged: Bools,
) -> None:  # fmt: skip
    """Updates of modes ``first:last`` of ``q`` (K, N, 2), in place, until they have converged.

    Mode k has the additional costs ``prior`` (2,) and ``bias[bias_of[k]]`` (N, 2).  Fills ``iterations``, ``changes``
    and ``converged`` (K,).
    """
    state = _state(views, q.shape[1], views.height_costs.shape[0])
    for k in range(first, last):
        extra = bias[bias_of[k]]
        for n in range(q.shape[1]):
            state.empty[n] = min(max(q[k, n, 0], EMPTIEST), 1.0)
            state.rate[n] = rule.rate
            state.step[n] = 0.0
        state.share[:] = np.exp(-views.height_costs)
        stable, made, change = 0, 0, 0.0
        while made < rule.max_updates and stable < rule.patience:
            change = _update(views, prior, extra, counts, k, temperature[k], rule, q[k], state)
            stable, made = (stable + 1 if change < rule.tolerance else 0), made + 1
            if not rule.adaptive or stable >= rule.patience:
                continue
            moving = np.flatnonzero(np.abs(state.step) > STILL * rule.tolerance / rule.rate).astype(np.uint32)
            if moving.shape[0] > FEW * q.shape[1]:
                continue
            part = restricted(views, moving, state.empty, state.share, state.images)
            for _ in range(min(SERIES, rule.max_updates - made)):
                change = _update(part, prior, extra, counts, k, temperature[k], rule, q[k], state)
                stable, made = (stable + 1 if change < rule.tolerance else 0), made + 1
                if stable >= rule.patience - 1:  # the last word has an update of all cells
                    break
        _write(state.empty, extra, q[k])
        iterations[k], changes[k], converged[k] = made, change, stable >= rule.patience


@jit()
def _state(views: Views, n: Integer, heights: Integer) -> State:
    return State(
        np.empty(n), np.empty(n), np.empty(n), np.empty((n, heights)), np.zeros((n, 1 + heights)), np.empty(n),
        np.empty(n), np.empty(n), np.empty((3, largest(views))), np.empty(2 * n + 2),
    )  # fmt: skip


@jit()
def _update(
    views: Views, prior: Floats, extra: Floats, counts: FlatCounts, k: Integer, temperature: Real, rule: Rule,
    q: Floats, state: State,
) -> float:  # fmt: skip
    """Update ``views.cells``; returns the largest move at the first rate."""
    cells, empty, costs, logit, size, e = views.cells, state.empty, state.costs, state.logit, state.size, state.e
    count = cells.shape[0]
    field(views, empty, state.share, state.images, costs)
    added, largest_step = 0.0, merge_heights(views, empty, state.share, costs)
    if counts.mode_start[k] < counts.mode_start[k + 1]:
        _add_counts(counts, k, empty, q, costs, state.work)
    for m in range(count):
        n = cells[m]
        gain = costs[n, 0] - costs[n, 1] + prior[0] - prior[1] + extra[n, 0] - extra[n, 1]
        logit[m] = gain / temperature
        size[m] = -abs(logit[m])
    exponential(size[:count], e[:count])
    highest = HIGHEST if count > FEW * empty.shape[0] else HIGHEST_OF_FEW
    for m in range(count):
        n = cells[m]
        step = (e[m] if logit[m] > 0.0 else 1.0) / (1.0 + e[m]) - empty[n]
        if rule.adaptive:
            state.rate[n] = _next_rate(state.rate[n], step * state.step[n], highest)
        state.step[n] = step
        largest_step = max(largest_step, abs(step))
        added -= min(state.rate[n] * step, 0.0)
    expected = max(1.0, math.exp(-prior[1]) * empty.shape[0])
    slower = expected / added if rule.adaptive and added > expected else 1.0
    still = STILL * rule.tolerance / rule.rate if rule.adaptive else 0.0
    for m in range(count):
        n = cells[m]
        rate = state.rate[n] * (slower if state.step[n] < 0.0 else 1.0)
        rate = 1.0 if abs(state.step[n]) < still else rate
        empty[n] = min(max(empty[n] + rate * state.step[n], EMPTIEST), 1.0)
    return rule.rate * largest_step


@jit(inline="always")
def _next_rate(rate: float, agreement: float, highest: float) -> float:
    """The rate after two steps with this product; it does not grow beyond ``highest``."""
    if agreement > 0.0:
        return max(rate, min(FASTER * rate, highest))
    return max(SLOWER * rate, LOWEST) if agreement < 0.0 else rate


@jit()
def restricted(views: Views, cells: UInt32s, empty: Floats, share: Floats, images: Floats) -> Views:
    """The views of some ``cells`` (M,), the others with their probabilities ``empty`` (N,) and ``share`` (N, H).

    The weight of a pixel is multiplied by the probability that no other cell covers it, and blocks lie between the
    edges of the rectangles of ``cells``; ``images`` is as in `field`.
    """
    chosen = np.zeros(empty.shape[0], np.bool_)
    values, odds = np.zeros(share.shape), np.empty(share.shape)
    chosen[cells] = True
    for n in range(empty.shape[0]):
        if not chosen[n]:
            uncovered(n, empty, share, views.ignored, values, odds)
    kept = np.flatnonzero(chosen[views.cell])
    cell, corner = views.cell[kept], views.corner[kept]
    cameras = views.height.shape[0]
    height, width = np.zeros(cameras, np.int32), np.zeros(cameras, np.int32)
    block_start, rectangle_start = np.zeros(cameras + 1, np.int64), np.searchsorted(kept, views.rectangle_start)
    block, bare, bare_mask = np.empty_like(views.block), np.empty(cameras), np.empty(cameras)
    for c in range(cameras):
        rows, columns = views.height[c] + 1, views.width[c] + 1
        image = average_image(views, c, values, images).reshape(rows, columns, 2)
        own = corner[rectangle_start[c] : rectangle_start[c + 1]]
        row, column = _edges(own.ravel() // columns, rows), _edges(own.ravel() % columns, columns)
        height[c], width[c] = -(-(row.shape[0] - 1) // 4) * 4, column.shape[0] - 1
        block_start[c + 1] = block_start[c] + height[c] * width[c]
        _fill(image, row, column, block[block_start[c] : block_start[c + 1]].reshape(height[c], width[c], 2))
        bare[c] = views.bare[c] + image[-1, -1, 0] - image[row[-1], column[-1], 0]
        bare_mask[c] = views.bare_mask[c] + image[-1, -1, 1] - image[row[-1], column[-1], 1]
        y, x = np.searchsorted(row, np.arange(rows)), np.searchsorted(column, np.arange(columns))
        edge = own.ravel()
        for v in range(edge.shape[0]):
            edge[v] = y[edge[v] // columns] * (width[c] + 1) + x[edge[v] % columns]
    return Views(
        height, width, block_start, block[: block_start[-1]], rectangle_start, cell, corner, views.area, bare,
        bare_mask, views.foreground, views.weight, views.power, views.noise, views.ignored, cells, views.height_costs,
    )  # fmt: skip


@jit()
def _edges(values: UInt32s, count: Integer) -> UInt32s:
    """Zero, and the distinct ones of values (V,) below ``count``, sorted."""
    found = np.arange(count) == 0
    found[values] = True
    return np.flatnonzero(found).astype(np.uint32)


@jit()
def _fill(image: Floats, row: UInt32s, column: UInt32s, block: Floats) -> None:
    """Sums over the blocks (H, W, 2) between edges, zeros below them, from an integral image."""
    block[row.shape[0] - 1 :] = 0.0
    for y in range(row.shape[0] - 1):
        above, below = image[row[y]], image[row[y + 1]]
        for x in range(column.shape[0] - 1):
            i, j = column[x], column[x + 1]
            for m in range(2):
                block[y, x, m] = below[j, m] - below[i, m] - above[j, m] + above[i, m]


@jit()
def _write(empty: Floats, extra: Floats, q: Floats) -> None:
    """Fill marginals (N, 2); labels that ``extra`` (N, 2) forbids get zero, not the smallest probability of a run."""
    for n in range(empty.shape[0]):
        q[n, 0] = 1.0 if extra[n, 1] == np.inf else 0.0 if extra[n, 0] == np.inf else empty[n]
        q[n, 1] = 1.0 - q[n, 0]


@jit()
def _add_counts(counts: FlatCounts, k: Integer, empty: Floats, q: Floats, costs: Floats, work: Floats) -> None:
    """Add to ``costs`` (N, 2) the derivative of the count potentials of mode k; ``q`` (N, 2) is work memory."""
    for c in range(counts.mode_start[k], counts.mode_start[k + 1]):
        begin, end = counts.member_start[c], counts.member_start[c + 1]
        member, label = counts.member[begin:end], counts.label[begin:end]
        for n in member:
            q[n, 0], q[n, 1] = empty[n], 1.0 - empty[n]
        for u in range(end - begin):
            decisive = member_decides(q, member, label, u, counts.threshold[c], work)
            costs[member[u], label[u]] += counts.weight[c] * decisive
