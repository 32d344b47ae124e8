"""Low-energy basins of binary quadratic models (not in the paper): mixfield against other samplers at equal time.

A basin is a local minimum of single flips; two of them count if they differ in a share of the variables.  All samplers
have one thread and the same processor seconds, without compiling.
"""
