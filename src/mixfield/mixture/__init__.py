"""Many modes: the tree of cuts and the weighted mixture at its leaves."""
