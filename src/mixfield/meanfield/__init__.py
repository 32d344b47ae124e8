"""One mode: mean field of any energy, with temperature, tilts and starting points."""
