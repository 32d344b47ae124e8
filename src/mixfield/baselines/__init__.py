"""What the paper compares with: restarts, clamping of single variables, DivMBest."""

from __future__ import annotations

from mixfield.baselines.diverse import div_m_best as div_m_best
from mixfield.baselines.restarts import restarts as restarts
from mixfield.baselines.single import clamp_entropy_gap as clamp_entropy_gap
from mixfield.baselines.single import clamp_maxw as clamp_maxw

__all__ = ["clamp_entropy_gap", "clamp_maxw", "div_m_best", "restarts"]
