"""Collapsed mean fields and the search for modes (not in the paper): random grids, UAI-2014 models, 64 x 64 grids.

All runs have one thread and one seed; times are processor seconds without compiling.
"""
