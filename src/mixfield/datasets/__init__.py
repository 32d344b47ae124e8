"""Seeded synthetic problems with known answers."""

from mixfield.datasets.fields import PRESETS, four_zones, random_ising
from mixfield.datasets.people import Walk, look_at, walking_people
from mixfield.datasets.photograph import ScribbledPhoto, scribbled_photo

__all__ = [
    "PRESETS",
    "ScribbledPhoto",
    "Walk",
    "four_zones",
    "look_at",
    "random_ising",
    "scribbled_photo",
    "walking_people",
]
