"""Mean field of people who explain silhouettes (Fleuret et al., PAMI 2008).

``a_n`` is the probability that cell n is empty, R_n its rectangle in a camera.  A pixel p is uncovered with probability
``U(p) = prod_{n : p in R_n} a_n``.  log U is a sum of rectangles: a difference array with four corners each, then
prefix sums.  The edges of all rectangles divide an image into blocks of pixels that are in the same rectangles;
integral images of U over blocks give the sums over R_n.  Costs per iteration grow with blocks and cells, not with the
area of the rectangles.

A person may have one of H heights, with nested rectangles R_n1 < ... < R_nH and probabilities r_nh given that somebody
is there.  With ``c_nh = 1 - (1 - a_n) sum_{g >= h} r_ng``, the probability of nobody of height h or more, cell n
uncovers the pixels of R_nh outside of the smaller rectangles with probability c_nh, and log U is the sum of rectangles
with the values ``log c_nh - log c_n,h+1``.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from mixfield.kernels.exponential import TO_1E_13, exp
from mixfield.kernels.jit import Floats, Int32s, Int64s, Integer, UInt32s, jit

EMPTIEST = 1e-9  # smallest a_n: below, U / a_n would be rounding noise
HEIGHT_TOLERANCE, HEIGHT_UPDATES = 1e-6, 50  # of `solve_heights`


class Views(NamedTuple):
    """C cameras, their blocks and rectangles one camera after the other."""

    height: Int32s  # (C,) rows of blocks, padded to a multiple of four
    width: Int32s  # (C,) columns of blocks
    block_start: Int64s  # (C + 1,)
    block: Floats  # (B, 2) weights of the pixels of each block, and the weighted sum of their soft foreground
    rectangle_start: Int64s  # (C + 1,)
    cell: UInt32s  # (V,) the cell of each visible rectangle
    corner: UInt32s  # (V, H, 4) corners in the integral image, of each height: top left, top right, bottom left, right
    area: Floats  # (C,) weights of the pixels of the whole image
    bare: Floats  # (C,) of those outside of all blocks, always uncovered
    bare_mask: Floats  # (C,) sum of the soft foreground of those pixels
    foreground: Floats  # (C,) |B|, sum of the soft foreground
    weight: Floats  # (C,) 1 / (2 v) of the released code, 1 / sigma of the other forms
    power: int  # psi = weight d^power: 2 in the released code, 1 in the article; 0 for weight D, without division
    noise: float  # eta
    ignored: float  # cells with a_n above this are left out of the average image
    cells: UInt32s  # (M,) the cells that have rectangles here; others keep their probabilities
    height_costs: Floats  # (H,) minus the logarithms of the prior of the heights


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
def corners(corner: UInt32s, cell: UInt32s, values: Floats, out: Floats) -> None:
    """Difference array, ``out`` ((H + 1) (W + 1),), of the sum of rectangles with the ``values`` (N, heights) of their
    cells."""
    out[:] = 0.0
    for v in range(cell.shape[0]):
        for h in range(corner.shape[1]):
            value = values[cell[v], h]
            if value != 0.0:
                out[corner[v, h, 0]] += value
                out[corner[v, h, 1]] -= value
                out[corner[v, h, 2]] -= value
                out[corner[v, h, 3]] += value


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


@jit(inline="always")
def uncovered(n: Integer, empty: Floats, share: Floats, ignored: float, values: Floats, odds: Floats) -> None:
    """Fill row n of ``values`` (N, H) with log c_nh - log c_n,h+1 and of ``odds`` (N, H) with 1 - 1 / c_nh."""
    c, counts, tallest = empty[n], empty[n] <= ignored, share.shape[1] - 1
    for h in range(tallest):
        taller = min(c + (1.0 - empty[n]) * share[n, h], 1.0)
        values[n, h] = math.log(c / taller) if counts else 0.0
        odds[n, h] = 1.0 - 1.0 / c
        c = taller
    values[n, tallest] = math.log(c) if counts else 0.0
    odds[n, tallest] = 1.0 - 1.0 / c


@jit()
def average_image(views: Views, c: Integer, values: Floats, images: Floats) -> Floats:
    """Integral image ((H + 1) (W + 1), 2) of U and of U B of camera c, for rectangles with ``values`` (N, heights)."""
    height, width = views.height[c], views.width[c]
    block = views.block[views.block_start[c] : views.block_start[c + 1]].reshape(height, width, 2)
    rectangles = slice(views.rectangle_start[c], views.rectangle_start[c + 1])
    size = (height + 1) * (width + 1)
    difference, image = images[0, :size], images[1:].ravel()[: 2 * size].reshape(size, 2)
    corners(views.corner[rectangles], views.cell[rectangles], values, difference)
    integrals(difference.reshape(height + 1, width + 1), block, image.reshape(height + 1, width + 1, 2))
    return image


@jit()
def field(views: Views, empty: Floats, share: Floats, images: Floats, costs: Floats) -> float:
    """psi of each state of each cell given the average of the others, summed over the cameras that see the cell.

    ``empty`` (N,) are the a_n, ``share`` (N, H) the r_nh.  Fills ``costs`` (N, 1 + H) of ``views.cells``, of nobody and
    of people of each height, relative to the returned sum of psi of the average images; ``images`` (3, `largest`) is
    work memory.
    """
    values, odds = np.empty(share.shape), np.empty(share.shape)
    for n in views.cells:
        uncovered(n, empty, share, views.ignored, values, odds)
        for h in range(costs.shape[1]):
            costs[n, h] = 0.0
    total, tallest = 0.0, share.shape[1] - 1
    for c in range(views.height.shape[0]):
        image = average_image(views, c, values, images)
        # S = |A| + eta W H and D = S - 2 |A.B| + |B| of the average image, with A = 1 - U
        covered = (1.0 + views.noise) * views.area[c] - image[-1, 0] - views.bare[c]
        wrong = covered + 2.0 * (image[-1, 1] + views.bare_mask[c]) - views.foreground[c]
        weight, power = views.weight[c], views.power
        average = weight * wrong if power == 0 else _psi(wrong / covered, weight, power)
        total += average
        scale = weight if power == 0 else 1.0
        rectangles = slice(views.rectangle_start[c], views.rectangle_start[c + 1])
        cell, corner = views.cell[rectangles], views.corner[rectangles]
        for v in range(cell.shape[0]):
            n = cell[v]
            u, gain = _inside(image, corner, v, tallest)
            costs[n, 1 + tallest] += _rise(wrong, covered, scale * gain, u, average, weight, power)
            more, lost = 0.0, 0.0  # of the rectangles that are larger than the one of a height, without their people
            for h in range(tallest - 1, -1, -1):
                inner_u, inner_gain = _inside(image, corner, v, h)
                more += odds[n, h + 1] * (u - inner_u)
                lost += scale * odds[n, h + 1] * (gain - inner_gain)
                u, gain = inner_u, inner_gain
                costs[n, 1 + h] += _rise(wrong, covered, scale * gain + lost, u + more, average, weight, power)
            more, lost = more + odds[n, 0] * u, lost + scale * odds[n, 0] * gain
            costs[n, 0] += _rise(wrong, covered, lost, more, average, weight, power)
    return total


@jit(inline="always")
def _rise(wrong: float, covered: float, gain: float, u: float, average: float, weight: float, power: int) -> float:
    """The change of psi if D grows by ``gain`` and S by ``u``; for power 0, ``gain`` has been weighted."""
    return gain if power == 0 else _psi((wrong + gain) / (covered + u), weight, power) - average


@jit(inline="always")
def _inside(image: Floats, corner: UInt32s, v: Integer, h: Integer) -> tuple[float, float]:
    """|U| and |U| - 2 |U.B| of a rectangle in an integral image ((H + 1) (W + 1), 2)."""
    i, j, k, l = corner[v, h, 0], corner[v, h, 1], corner[v, h, 2], corner[v, h, 3]
    u = image[l, 0] - image[k, 0] - image[j, 0] + image[i, 0]
    return u, u - 2.0 * (image[l, 1] - image[k, 1] - image[j, 1] + image[i, 1])


@jit()
def merge_heights(views: Views, empty: Floats, share: Floats, costs: Floats) -> float:
    """Replace the ``costs`` (N, 1 + H) of a person by ``-log sum_h prior_h exp(-cost_h)``, the cost of a person whose
    height is unknown, and ``share`` (N, H) by the posterior of the heights.

    Fills the first two columns, of nobody and of a person; returns the largest change of a probability.
    """
    heights, largest_step = share.shape[1], 0.0
    if heights == 1:
        return largest_step
    weight = np.empty(heights)
    for n in views.cells:
        least = np.inf
        for h in range(heights):
            weight[h] = costs[n, 1 + h] + views.height_costs[h]
            least = min(least, weight[h])
        total = 0.0
        for h in range(heights):
            weight[h] = exp(least - weight[h], TO_1E_13)
            total += weight[h]
        costs[n, 1] = least - math.log(total)
        for h in range(heights):
            posterior = weight[h] / total
            largest_step = max(largest_step, (1.0 - empty[n]) * abs(posterior - share[n, h]))
            share[n, h] = posterior
    return largest_step


@jit()
def solve_heights(views: Views, empty: Floats, share: Floats, images: Floats, costs: Floats) -> float:
    """`field` with the heights that are a fixed point given the ``empty`` (N,): the free energy of the heights.

    ``share`` (N, H) is the start, and filled.  The first two columns of ``costs`` are of nobody and of a person.
    """
    for _ in range(HEIGHT_UPDATES):
        total = field(views, empty, share, images, costs)
        if merge_heights(views, empty, share, costs) < HEIGHT_TOLERANCE:
            break
    return total
