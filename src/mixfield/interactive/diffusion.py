"""Diffusion of labels over a graph: the random walker of Grady (PAMI 2006)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array, diags_array
from scipy.sparse.linalg import spsolve

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

LEAK = 1e-6  # conductance to nowhere, for parts of the graph that no seed reaches


def diffuse(edges: Ints, conductances: Floats, seeds: Ints, n_labels: int) -> Floats:
    """(n, L) probability that a random walk from each vertex first meets a seed of each label.

    Parameters
    ----------
    edges : (m, 2) pairs of vertices; repeated pairs add up.
    conductances : (m,) above zero: the walk takes an edge in proportion.
    seeds : (n,) labels of the seeds, -1 elsewhere.
    n_labels : L.

    Notes
    -----
    With the Laplacian of the graph in blocks for seeds S and other vertices U, ``L_UU p_U = -L_US p_S``.  The
    probabilities of a vertex that no seed reaches are zero.
    """
    n = len(seeds)
    at, free = np.flatnonzero(seeds >= 0), np.flatnonzero(seeds < 0)
    answers = np.zeros((n, n_labels))
    answers[at, seeds[at]] = 1.0
    if len(at) and len(free):
        weights = _symmetric(edges, conductances, n)
        laplacian = (diags_array(np.asarray(weights.sum(1)).ravel() + LEAK) - weights).tocsr()[free]
        flow = -(laplacian[:, at] @ answers[at])
        answers[free] = np.asarray(spsolve(laplacian[:, free].tocsc(), flow)).reshape(len(free), n_labels)
    return np.clip(answers, 0.0, 1.0)


def _symmetric(edges: Ints, conductances: Floats, n: int) -> csr_array:
    first, second = edges.T
    rows, columns = np.concatenate([first, second]), np.concatenate([second, first])
    return coo_array((np.concatenate([conductances, conductances]), (rows, columns)), shape=(n, n)).tocsr()
