"""Weighted mixtures of mean fields for discrete random fields.

>>> import mixfield as mf
>>> graph = mf.FactorGraph.ising([0.0, 0.1, 0.0], [(0, 1), (1, 2)], 2.0)
>>> posterior = mf.infer(graph, n_modes=2)
>>> posterior.labelings().tolist()
[[1, 1, 1], [0, 0, 0]]
"""

import lazy_loader

__version__ = "0.2.0"

# The names are listed in __init__.pyi and loaded at first use: ``import mixfield`` loads neither Numba nor SciPy.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
