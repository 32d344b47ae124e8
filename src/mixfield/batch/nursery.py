"""What every worker needs, loaded once: workers of a cluster on this machine are copies of a process that imports this.

The first call of a compiled function makes Numba set up its tables, which takes longer than many an item.
"""

from __future__ import annotations

import distributed.nanny  # noqa: F401
import numpy as np

from mixfield import kernels
from mixfield.batch import cluster  # noqa: F401

kernels.counts.distribution(np.array([0.5]), np.empty(2))
