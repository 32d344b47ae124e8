"""UAI-2014 models with their hard classes (not in the paper): scores of the UAI competitions after some seconds.

log Z and marginals of mixfield, damped belief propagation and annealed importance sampling, and energies of mixfield,
toulbar2 and dwave-samplers.  All on one thread, in processor seconds without reading the file and without compiling.
"""
