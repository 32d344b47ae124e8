"""Generic models (not in the paper): accuracy against time on UAI-2014 models.

Compared are mixfield, restarts of mean field, pygms, pyAgrum and a tempered Gibbs sampler.  All run in one process on
one thread; reading the file and compiling are not timed.
"""
