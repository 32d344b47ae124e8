"""How good an answer is, measured as the benchmarks of the field measure it."""

from mixfield.metrics.segmentation import best_of, confusion, mean_iou

__all__ = ["best_of", "confusion", "mean_iou"]
