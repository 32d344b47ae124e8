"""The methods that are compared on random fields, as options of `mixfield.infer`."""

from __future__ import annotations

from typing import Any

from mixfield.baselines.single import MaxWVariable
from mixfield.constraints import Clamp
from mixfield.criteria import Criterion, MaxW, PhaseTransition, RandomGroup
from mixfield.mixture import Search, breadth_first, no_search

# Leaves of the paper's tree: annealed, since without annealing every curve would measure bad starts; not polished, so
# that the tree with k leaves is a prefix of the larger trees and one run gives the whole curve.
LEAVES = Search(leaf=1, remembered=1, flips=0, polish=0, standing=False)
CLAMP = Clamp(bisections=0)

RULES: dict[str, Criterion] = {
    "OURS-RANDOM, L = 1": PhaseTransition(pick=RandomGroup(size=1)),
    "OURS-RANDOM, L = 3": PhaseTransition(pick=RandomGroup(size=3)),
    "OURS-MAXW, L = 1": PhaseTransition(pick=MaxW(size=1)),
    "OURS-MAXW, L = 3": PhaseTransition(pick=MaxW(size=3)),
    "MAXW, same search": MaxWVariable(),
}
BASELINE, DEFAULT, SAME_SEARCH = "BASELINE-MAXW", "mf.infer", "MAXW, same search"
COLLAPSED = "collapsed"  # mf.infer without clusters inside its cells; DEFAULT is its method without collapsing
METHODS: dict[str, dict[str, Any]] = {
    name: {"criterion": rule, "order": breadth_first, "search": LEAVES, "clamp": CLAMP} for name, rule in RULES.items()
} | {DEFAULT: {"collapse": False}, COLLAPSED: {"collapse": True}}
BASELINE_OPTIONS = {"criterion": MaxWVariable(), "order": breadth_first, "finder": no_search}  # in reading order
MATCHED = ("OURS-MAXW, L = 1", "OURS-MAXW, L = 3", DEFAULT)  # methods whose compute restarts are given
