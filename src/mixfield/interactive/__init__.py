"""Labels from strokes and clicks: regions, their evidence and field, candidates, questions."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
