"""Mean field of people who explain silhouettes (Fleuret et al., PAMI 2008).

``a_n`` is the probability that cell n is empty, R_n its rectangle in a camera.  A pixel p is uncovered with probability
``U(p) = prod_{n : p in R_n} a_n``.  log U is a sum of rectangles: a difference array with four corners each, then
prefix sums.  The edges of all rectangles divide an image into blocks of pixels that are in the same rectangles;
integral images of U over blocks give the sums over R_n.  Costs per iteration grow with blocks and cells, not with the
area of the rectangles.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from mixfield.kernels.exponential import TO_1E_13, exp
from mixfield.kernels.jit import Floats, Int32s, Int64s, Integer, UInt32s, jit

EMPTIEST = 1e-9  # smallest a_n: below, U / a_n would be rounding noise


class Views(NamedTuple):
    """C cameras, their blocks and rectangles one camera after the other."""

    height: Int32s  # (C,) rows of blocks, padded to a multiple of four
    width: Int32s  # (C,) columns of blocks
    block_start: Int64s  # (C + 1,)
    block: Floats  # (B, 2) weights of the pixels of each block, and the weighted sum of their soft foreground
    rectangle_start: Int64s  # (C + 1,)
    cell: UInt32s  # (V,) the cell of each visible rectangle
    corner: UInt32s  # (V, 4) its corners in the integral image: top left, top right, bottom left, bottom right
    area: Floats  # (C,) weights of the pixels of the whole image
    bare: Floats  # (C,) of those outside of all blocks, always uncovered
    bare_mask: Floats  # (C,) sum of the soft foreground of those pixels
    foreground: Floats  # (C,) |B|, sum of the soft foreground
    weight: Floats  # (C,) 1 / (2 v) of the released code, 1 / sigma of the other forms
    power: int  # psi = weight d^power: 2 in the released code, 1 in the article; 0 for weight D, without division
    noise: float  # eta
    ignored: float  # cells with a_n above this are left out of the average image
    cells: UInt32s  # (M,) the cells that have rectangles here; others keep their probabilities


@jit(fastmath={"contract"})
def exponential(x: Floats, out: Floats) -> None:
    """out = exp(x) for x <= 0, to 1e-13."""
    for k in range(x.shape[0]):
        out[k] = exp(x[k], TO_1E_13)


@jit()
def blocks(image: Floats, row: Int64s, column: Int64s, out: Floats) -> None:
    """Fill ``out`` (H, W) with the sums of an image between edges, with zeros below them."""
    out[:] = 0.0
    for y in range(row.shape[0] - 1):
        for i in range(row[y], row[y + 1]):
            for x in range(column.shape[0] - 1):
                for j in range(column[x], column[x + 1]):
                    out[y, x] += image[i, j]


@jit()
def corners(corner: UInt32s, cell: UInt32s, log_empty: Floats, out: Floats) -> None:
    """Difference array, ``out`` ((H + 1) (W + 1),), of the sum of rectangles with the value ``log_empty`` of their
    cells."""
    out[:] = 0.0
    for v in range(cell.shape[0]):
        value = log_empty[cell[v]]
        if value != 0.0:
            out[corner[v, 0]] += value
            out[corner[v, 1]] -= value
            out[corner[v, 2]] -= value
            out[corner[v, 3]] += value


@jit()
def integrals(difference: Floats, block: Floats, image: Floats) -> None:
    """Integral image (H + 1, W + 1, 2) of U and of U B, from the difference array of log U and blocks (H, W, 2).

    H is a multiple of four: four rows are summed side by side, since each step of one sum waits for the step before.
    """
    height, width, _ = block.shape
    above = np.zeros(width)
    log_u, u = np.empty(4 * width), np.empty(4 * width)
    image[0] = 0.0
    for y in range(0, height, 4):
        _four_sums(difference, y, above, log_u)
        exponential(log_u, u)
        _four_integrals(u, block, y, image)


@jit()
def _four_sums(difference: Floats, y: Integer, above: Floats, out: Floats) -> None:
    """Rows y..y+3 of the prefix sum into ``out`` (4 W,); ``above`` (W,) is the row before them, and then the last."""
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


@jit(fastmath={"contract"})
def _four_integrals(u: Floats, block: Floats, y: Integer, image: Floats) -> None:
    """Rows y+1..y+4 of an integral image (H + 1, W + 1, 2), from rows y..y+3 of U in ``u`` (4 W,)."""
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


@jit(inline="always")
def _psi(distance: float, weight: float, power: int) -> float:
    return weight * distance * distance if power == 2 else weight * distance


@jit()
def largest(views: Views) -> int:
    """Entries of the largest integral image."""
    most = 0
    for c in range(views.height.shape[0]):
        most = max(most, (views.height[c] + 1) * (views.width[c] + 1))
    return most


@jit()
def field(views: Views, empty: Floats, images: Floats, costs: Floats) -> float:
    """psi of each label of each cell given the average of the others, summed over the cameras that see the cell.

    ``empty`` (N,) are the a_n.  Fills ``costs`` (N, 2) of ``views.cells``, relative to the returned sum of psi of the
    average images; ``images`` (3, `largest`) is work memory.
    """
    log_empty, odds = np.empty(empty.shape[0]), np.empty(empty.shape[0])
    for n in views.cells:
        log_empty[n] = math.log(empty[n]) if empty[n] <= views.ignored else 0.0
        odds[n] = 1.0 - 1.0 / empty[n]
        costs[n, 0], costs[n, 1] = 0.0, 0.0
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
        average = weight * wrong if power == 0 else _psi(wrong / covered, weight, power)
        total += average
        for v in range(cell.shape[0]):
            i, j, k, l = corner[v, 0], corner[v, 1], corner[v, 2], corner[v, 3]
            n = cell[v]
            u = image[l, 0] - image[k, 0] - image[j, 0] + image[i, 0]
            gain = u - 2.0 * (image[l, 1] - image[k, 1] - image[j, 1] + image[i, 1])
            if power == 0:
                costs[n, 0] += weight * odds[n] * gain
                costs[n, 1] += weight * gain
                continue
            costs[n, 0] += _psi((wrong + odds[n] * gain) / (covered + odds[n] * u), weight, power) - average
            costs[n, 1] += _psi((wrong + gain) / (covered + u), weight, power) - average
    return total
