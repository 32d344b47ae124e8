"""People tracking (section 7.2 of the paper): MODA over the distance threshold with and without tracks.

Compared are mean field and the oracle's best mode, frame by frame; KSP on mean field; KSP* on the modes, with the
posterior price and with the printed one; and KSP on the modes that the oracle chooses, as an upper bound.
"""
