"""Videos (section 7.4 of the paper): one mode per frame that agrees with its neighbours, without the truth.

Compared are mean field, MaxW clamping with the same choice, the modes with that choice, and the modes with an oracle.
"""
