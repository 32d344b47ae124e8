"""Numbers that several kernels share; importing them does not load Numba."""

from __future__ import annotations

import numpy as np

FORBIDDEN = np.float32(1e6)  # cost of a forbidden label in a dense field: nothing outweighs it, sums do not overflow
LOWEST = -32.0  # exp(x) is 0 below it: products of smaller probabilities are slow denormal numbers
LARGEST_SCOPE = 60  # variables of a factor
LARGEST_POLYNOMIAL = 8  # variables of a binary factor that is kept as a polynomial
FAR = -3e38  # logit of no label: its exponential is 0 at any temperature
LANES = 8  # float32 in one register
LOG2_E, LN2 = 1.4426950408889634, 0.6931471805599453
FREE, SOURCE, SINK = -1, -2, -2  # of a flow: a node without a path, and what lies before and after a path
