"""Imports of the fork server: workers of a local Dask cluster are forked from a process that has loaded this module.

The first call of a compiled function initializes Numba, which takes longer than many items.
"""

from __future__ import annotations

import distributed.nanny  # noqa: F401
import numpy as np

from mixfield import kernels
from mixfield.batch import cluster  # noqa: F401

kernels.counts.distribution(np.array([0.5]), np.empty(2))
