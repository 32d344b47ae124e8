"""Measures of segmentations and detections, as the benchmarks define them."""

from mixfield.metrics.calibration import calibration_error
from mixfield.metrics.people import DetectionScore, best_detections, bootstrap, detection_scores, moda, modp, total
from mixfield.metrics.segmentation import best_of, confusion, mean_iou

__all__ = [
    "DetectionScore",
    "best_detections",
    "best_of",
    "bootstrap",
    "calibration_error",
    "confusion",
    "detection_scores",
    "mean_iou",
    "moda",
    "modp",
    "total",
]
