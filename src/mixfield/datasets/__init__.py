"""Seeded synthetic problems with known answers."""

from mixfield.datasets.doubts import DoubtfulWalk, doubtful_walk
from mixfield.datasets.fields import PRESETS, four_zones, random_ising
from mixfield.datasets.people import Walk, look_at, walking_people
from mixfield.datasets.photograph import ScribbledPhoto, scribbled_photo

__all__ = [
    "PRESETS",
    "DoubtfulWalk",
    "ScribbledPhoto",
    "Walk",
    "doubtful_walk",
    "four_zones",
    "look_at",
    "random_ising",
    "scribbled_photo",
    "walking_people",
]
