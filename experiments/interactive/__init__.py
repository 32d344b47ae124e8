"""Strokes and clicks: how many interactions a simulated annotator needs, and how good the first answers are."""
