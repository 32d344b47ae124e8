"""How to cut: cardinality constraints, cells, tails, and the clamps that hold a mode in its cell."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
