"""Figures from results."""
