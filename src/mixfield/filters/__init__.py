"""Gaussian filtering of dense fields."""
