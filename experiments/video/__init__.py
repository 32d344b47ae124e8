"""Videos (section 7.4 of the paper): one mode per frame that agrees with its neighbours, without the truth.

Compared are mean field, MaxW clamping with the same choice, the modes with that choice, the modes with an oracle, and
modes for which an alternative of the frame before is one of the cuts.
"""
