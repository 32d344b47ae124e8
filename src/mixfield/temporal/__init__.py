"""One mode per frame: paths through time, and the choice of the modes they pass."""
