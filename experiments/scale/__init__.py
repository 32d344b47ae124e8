"""A very large image on very many workers: a plan on paper, and a simulation that checks it.

python -m experiments.scale --gigapixels 1000 --workers 1000
"""
