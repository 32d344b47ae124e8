"""Seeded synthetic problems with known truth."""

from mixfield.datasets.fields import PRESETS, four_zones, random_ising
from mixfield.datasets.people import Walk, look_at, walking_people

__all__ = ["PRESETS", "Walk", "four_zones", "look_at", "random_ising", "walking_people"]
