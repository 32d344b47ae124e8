"""Mean field of people explaining silhouettes: average images by difference arrays, rectangle sums by integral images.

``a_n`` is the probability that cell n is empty.  The logarithm of ``U(p) = prod_{n : p in R_n} a_n``, the probability
that pixel p is uncovered, is a sum of rectangles: four corners each, then prefix sums.  Pixels between the same edges
are in the same rectangles, and are one block.  Costs per iteration grow with blocks and cells, not with the area of the
rectangles.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from mixfield.kernels.bits import reread
from mixfield.kernels.counts import FlatCounts
from mixfield.kernels.sweeps import pivotal

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]

SHIFT = 6755399441055744.0  # 1.5 * 2^52: added to a number, it leaves the nearest integer in the low bits
EMPTIEST = 1e-9  # a_n never goes below it: U / a_n would be rounding noise


class Views(NamedTuple):
    """The cameras, their blocks and rectangles one camera after the other.

    The edges of rectangles divide an image into rows and columns of blocks; rows are padded to a multiple of four.
    """

    height: Ints  # (C,) rows of blocks ...
    width: Ints  # ... and columns
    block_start: NDArray[np.int64]  # (C + 1,)
    block: Floats  # (B, 2) pixels of each block, and the sum of their soft foreground
    rectangle_start: NDArray[np.int64]  # (C + 1,)
    cell: NDArray[np.uint32]  # (V,) the cell of each visible rectangle ...
    corner: NDArray[np.uint32]  # (V, 4) ... and its corners in the integral image: top left, top right, bottom ...
    area: Floats  # (C,) pixels of the whole image
    bare: Floats  # (C,) pixels outside of all blocks, always uncovered ...
    bare_mask: Floats  # (C,) ... and the foreground among them
    foreground: Floats  # (C,) |B|
    weight: Floats  # (C,) 1 / (2 v), or 1 / sigma in the article's form
    power: int  # 2: psi = weight d^2 (released code); 1: psi = weight d (article)
    noise: float  # eta
    ignored: float  # cells with a_n above it are left out of the average image


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract"})
def exponential(x: Floats, out: Floats) -> None:
    """exp(x) for x <= 0 to 1e-11, in a loop that a compiler turns into vector instructions.

    It is 2^n exp(r) with |r| <= log(2) / 2: n sits in the low bits of a number shifted by ``SHIFT``, exp(r) is its
    Taylor series.
    """
    for k in range(x.shape[0]):
        z = x[k] if x[k] > -700.0 else -700.0
        shifted = z * 1.4426950408889634 + SHIFT
        n = shifted - SHIFT
        r = (z - n * 0.6931471803691238) - n * 1.9082149292705877e-10
        e = r * 2.755731922398589e-06 + 2.48015873015873e-05  # 1 / 9!, 1 / 8!, ...
        e = e * r + 0.0001984126984126984
        e = e * r + 0.001388888888888889
        e = e * r + 0.008333333333333333
        e = e * r + 0.041666666666666664
        e = e * r + 0.16666666666666666
        e = e * r + 0.5
        e = e * r + 1.0
        out[k] = (e * r + 1.0) * reread((reread(shifted) + 1023) << 52)


@njit(cache=True, nogil=True)
def corners(corner: NDArray[np.uint32], cell: NDArray[np.uint32], log_empty: Floats, out: Floats) -> None:
    """Difference array ((H + 1) (W + 1),) of the sum of rectangles, each of height ``log_empty`` of its cell."""
    out[:] = 0.0
    for v in range(cell.shape[0]):
        value = log_empty[cell[v]]
        if value != 0.0:
            out[corner[v, 0]] += value
            out[corner[v, 1]] -= value
            out[corner[v, 2]] -= value
            out[corner[v, 3]] += value


@njit(cache=True, nogil=True, error_model="numpy")
def integrals(difference: Floats, block: Floats, image: Floats) -> None:
    """Integral image (H + 1, W + 1, 2) of U and of U B, from the difference array of log U and blocks (H, W, 2).

    H is a multiple of four: four rows are summed side by side, because one sum has to wait for itself.
    """
    height, width, _ = block.shape
    above = np.zeros(width)
    log_u, u = np.empty(4 * width), np.empty(4 * width)
    image[0] = 0.0
    for y in range(0, height, 4):
        _four_sums(difference, y, above, log_u)
        exponential(log_u, u)
        _four_integrals(u, block, y, image)


@njit(cache=True, nogil=True)
def _four_sums(difference: Floats, y: int, above: Floats, out: Floats) -> None:
    """Rows y..y+3 of the prefix sum, one after the other in ``out``; ``above`` is the row before them."""
    width = above.shape[0]
    first, second, third, fourth = difference[y], difference[y + 1], difference[y + 2], difference[y + 3]
    a, b, c, d = 0.0, 0.0, 0.0, 0.0
    for x in range(width):
        a += first[x]
        b += second[x]
        c += third[x]
        d += fourth[x]
        value = above[x] + a
        out[x] = value
        value += b
        out[width + x] = value
        value += c
        out[2 * width + x] = value
        value += d
        out[3 * width + x] = value
        above[x] = value


@njit(cache=True, nogil=True, fastmath={"contract"})
def _four_integrals(u: Floats, block: Floats, y: int, image: Floats) -> None:
    """Rows y+1..y+4 of an integral image, of pixels that stand one row after the other in ``u``.

    Both sums go from left to right in one vector of two.
    """
    width = block.shape[1]
    above, first, second, third, fourth = image[y], image[y + 1], image[y + 2], image[y + 3], image[y + 4]
    b1, b2, b3, b4 = block[y], block[y + 1], block[y + 2], block[y + 3]
    for k in range(2):
        first[0, k], second[0, k], third[0, k], fourth[0, k] = 0.0, 0.0, 0.0, 0.0
    p1, p2, p3, p4 = 0.0, 0.0, 0.0, 0.0
    f1, f2, f3, f4 = 0.0, 0.0, 0.0, 0.0
    for x in range(width):
        u1, u2, u3, u4 = u[x], u[width + x], u[2 * width + x], u[3 * width + x]
        p1, f1 = p1 + u1 * b1[x, 0], f1 + u1 * b1[x, 1]
        p2, f2 = p2 + u2 * b2[x, 0], f2 + u2 * b2[x, 1]
        p3, f3 = p3 + u3 * b3[x, 0], f3 + u3 * b3[x, 1]
        p4, f4 = p4 + u4 * b4[x, 0], f4 + u4 * b4[x, 1]
        p, f = above[x + 1, 0] + p1, above[x + 1, 1] + f1
        first[x + 1, 0], first[x + 1, 1] = p, f
        p, f = p + p2, f + f2
        second[x + 1, 0], second[x + 1, 1] = p, f
        p, f = p + p3, f + f3
        third[x + 1, 0], third[x + 1, 1] = p, f
        p, f = p + p4, f + f4
        fourth[x + 1, 0], fourth[x + 1, 1] = p, f


@njit(cache=True, nogil=True, inline="always")
def _psi(distance: float, weight: float, power: int) -> float:
    return weight * distance * distance if power == 2 else weight * distance


@njit(cache=True, nogil=True)
def largest(views: Views) -> int:
    """Numbers in the largest integral image."""
    most = 0
    for c in range(views.height.shape[0]):
        most = max(most, (views.height[c] + 1) * (views.width[c] + 1))
    return most


@njit(cache=True, nogil=True, error_model="numpy")
def field(views: Views, empty: Floats, images: Floats, costs: Floats) -> float:
    """psi of each label of each cell given the average of the others, summed over the cameras that see the cell.

    Fills ``costs`` (N, 2), relative to the returned sum of psi of the average images; ``images`` (3, pixels) is memory
    for the largest camera.
    """
    log_empty, odds = np.empty(empty.shape[0]), np.empty(empty.shape[0])
    for n in range(empty.shape[0]):
        log_empty[n] = math.log(empty[n]) if empty[n] <= views.ignored else 0.0
        odds[n] = 1.0 - 1.0 / empty[n]
    costs[:] = 0.0
    total = 0.0
    for c in range(views.height.shape[0]):
        height, width = views.height[c], views.width[c]
        block = views.block[views.block_start[c] : views.block_start[c + 1]].reshape(height, width, 2)
        rectangles = slice(views.rectangle_start[c], views.rectangle_start[c + 1])
        cell, corner = views.cell[rectangles], views.corner[rectangles]
        size = (height + 1) * (width + 1)
        difference, image = images[0, :size], images[1:].ravel()[: 2 * size].reshape(size, 2)
        corners(corner, cell, log_empty, difference)
        integrals(difference.reshape(height + 1, width + 1), block, image.reshape(height + 1, width + 1, 2))
        # S = |A| + eta W H and D = S - 2 |A.B| + |B| of the average image, with A = 1 - U
        covered = (1.0 + views.noise) * views.area[c] - image[-1, 0] - views.bare[c]
        wrong = covered + 2.0 * (image[-1, 1] + views.bare_mask[c]) - views.foreground[c]
        weight, power = views.weight[c], views.power
        average = _psi(wrong / covered, weight, power)
        total += average
        for v in range(cell.shape[0]):
            i, j, k, l = corner[v, 0], corner[v, 1], corner[v, 2], corner[v, 3]
            n = cell[v]
            u = image[l, 0] - image[k, 0] - image[j, 0] + image[i, 0]
            gain = u - 2.0 * (image[l, 1] - image[k, 1] - image[j, 1] + image[i, 1])
            costs[n, 0] += _psi((wrong + odds[n] * gain) / (covered + odds[n] * u), weight, power) - average
            costs[n, 1] += _psi((wrong + gain) / (covered + u), weight, power) - average
    return total


@njit(cache=True, nogil=True, error_model="numpy")
def ascend(
    views: Views,
    bias: Floats,
    bias_of: Ints,
    counts: FlatCounts,
    temperature: Floats,
    damping: float,
    tolerance: float,
    patience: int,
    max_iterations: int,
    first: int,
    last: int,
    q: Floats,
    iterations: Ints,
    changes: Floats,
    converged: NDArray[np.bool_],
) -> None:
    """Damped parallel updates of modes ``first:last`` of ``q`` (K, N, 2), in place.

    A mode has converged when no probability moved by ``tolerance`` in ``patience`` updates in a row.
    """
    n_cells = q.shape[1]
    costs = np.empty((n_cells, 2))
    empty, logit, size = np.empty(n_cells), np.empty(n_cells), np.empty(n_cells)
    e = np.empty(n_cells)
    images, work = np.empty((3, largest(views))), np.empty(2 * n_cells + 2)
    for k in range(first, last):
        extra, heat = bias[bias_of[k]], temperature[k]
        counted = counts.mode_start[k] < counts.mode_start[k + 1]
        for n in range(n_cells):
            empty[n] = min(max(q[k, n, 0], EMPTIEST), 1.0)
        stable = 0
        iterations[k] = 0
        while iterations[k] < max_iterations and stable < patience:
            field(views, empty, images, costs)
            if counted:
                _write(empty, q[k])
                _add_counts(counts, k, q[k], costs, work)
            for n in range(n_cells):
                logit[n] = (costs[n, 0] - costs[n, 1] + extra[n, 0] - extra[n, 1]) / heat
                size[n] = -abs(logit[n])
            exponential(size, e)
            change = 0.0
            for n in range(n_cells):
                target = (e[n] if logit[n] > 0.0 else 1.0) / (1.0 + e[n])
                new = damping * empty[n] + (1.0 - damping) * target
                new = min(max(new, EMPTIEST), 1.0)
                change = max(change, abs(new - empty[n]))
                empty[n] = new
            stable = stable + 1 if change < tolerance else 0
            iterations[k] += 1
            changes[k] = change
        _write(empty, q[k])
        converged[k] = stable >= patience


@njit(cache=True, nogil=True)
def _write(empty: Floats, q: Floats) -> None:
    """The marginals (N, 2); a loop, since assigning a slice compiles three seconds of text for its error message."""
    for n in range(empty.shape[0]):
        q[n, 0] = empty[n]
        q[n, 1] = 1.0 - empty[n]


@njit(cache=True, nogil=True)
def _add_counts(counts: FlatCounts, k: int, q: Floats, costs: Floats, work: Floats) -> None:
    """Add to ``costs`` (N, 2) the derivative of the count potentials of mode k."""
    for c in range(counts.mode_start[k], counts.mode_start[k + 1]):
        begin, end = counts.member_start[c], counts.member_start[c + 1]
        member, label = counts.member[begin:end], counts.label[begin:end]
        for u in range(end - begin):
            costs[member[u], label[u]] += counts.weight[c] * pivotal(q, member, label, u, counts.threshold[c], work)
