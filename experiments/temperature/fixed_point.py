"""The mean field of a large Gaussian CRF in which all pixels are equal (appendix of the paper).

Two labels; agreement is worth Gamma in total, label 0 costs U.  With q the probability of label 0 at every pixel, the
difference of the local fields is U - Gamma (q - (1 - q)), so

    log q / (1 - q) = (Gamma (2 q - 1) - U) / T,

and with q~ = q - 1/2 and log q / (1 - q) = 2 artanh(2 q~)

    q~ = 1/2 tanh((Gamma q~ - U / 2) / T).

The paper prints U instead of U / 2.  At U = 0 the right-hand side has slope Gamma / 2 T at zero, so zero is the only
solution from T_c = Gamma / 2 on.  With U, the solution against the unary vanishes where slope and value of both sides
agree, at m = 2 q~ with m^2 = 1 - 2 T / Gamma: where |U| = Gamma m - 2 T artanh(m).
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq


def right_hand_side(q: float, gamma: float, unary: float, temperature: float) -> float:
    """1/2 tanh((Gamma q~ - U / 2) / T)."""
    return 0.5 * float(np.tanh((gamma * q - unary / 2) / temperature))


def solutions(gamma: float, unary: float, temperature: float) -> list[float]:
    """All q~ in [-1/2, 1/2] that solve the fixed-point equation, increasing."""
    grid = np.linspace(-0.5, 0.5, 2001)
    gap = 0.5 * np.tanh((gamma * grid - unary / 2) / temperature) - grid
    touching = [float(grid[k]) for k in np.flatnonzero(gap == 0)]
    between = np.flatnonzero(gap[:-1] * gap[1:] < 0)
    crossing = [float(brentq(_excess, grid[k], grid[k + 1], (gamma, unary, temperature))) for k in between]
    return sorted(touching + crossing)


def _excess(q: float, gamma: float, unary: float, temperature: float) -> float:
    return right_hand_side(q, gamma, unary, temperature) - q


def splitting_temperature(gamma: float, unary: float) -> float:
    """The temperature at which the second solution vanishes: Gamma / 2 without unary, 0 from |U| = Gamma on."""
    if abs(unary) >= gamma:
        return 0.0

    def excess(temperature: float) -> float:
        m = np.sqrt(1.0 - 2.0 * temperature / gamma)
        return float(gamma * m - 2.0 * temperature * np.arctanh(m) - abs(unary))

    return gamma / 2 if unary == 0 else float(brentq(excess, 1e-12 * gamma, gamma / 2 * (1 - 1e-12)))
