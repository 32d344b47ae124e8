"""The paper's lemma A.1: with soft cuts, KL(Q || P) = log Z - log Z~ up to O(eps log(1/eps)).

The constant, for K modes of n binary variables and at most C constraints on a path: all but a mass of delta = C eps of
each mode lies in its own cell.

    KL(Q || P) = log Z - log Z~ + sum_k m_k E_{Q_k}[log(sum_j m_j Q_j / (m_k Q_k))],

and the last term lies between 0 and what the foreign modes add.  With a_k the mass that all other modes put into cell k
and b_k = 1 - mass_inside that mode k loses, the data-processing bounds give at most
``delta log(1 / delta) + delta (1 + n log(1 / q_min))``; the logits of a mode are of the order of its costs, so q_min is a
property of the field, not of eps.  We assert ``error <= (2 C + n) K eps log(1 / eps)``, generous for these fields, and
that the worst error falls with eps.
"""

from __future__ import annotations

import math
import warnings

import naive
import numpy as np
import pytest

import mixfield as mf
from mixfield.errors import FewerModesWarning

EPSILONS = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6)
N_MODES = 4


def _field(seed, attractive):
    """A 3 x 4 Ising field that melts late: strong couplings, weak fields."""
    rng = np.random.default_rng(seed)
    edges = mf.grid_edges((3, 4))
    coupling = rng.uniform(0.5, 1.5, len(edges)) * (1 if attractive else rng.choice([-1, 1], len(edges)))
    return mf.FactorGraph.ising(rng.uniform(-0.2, 0.2, (3, 4)), edges, coupling)


def _posterior(graph, epsilon):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FewerModesWarning)
        return mf.infer(
            graph,
            N_MODES,
            criterion=mf.PhaseTransition(mf.RandomGroup(3)),
            clamp=mf.Clamp(epsilon=epsilon),
            order=mf.breadth_first,
            search=mf.Search(root=6, root_sweeps=50, leaf_sweeps=20),
        )


def _errors(seed, attractive):
    """|KL - (log Z - log Z~)| and the bound of the lemma, for each epsilon; None where all cuts were strict."""
    graph = _field(seed, attractive)
    log_z = naive.log_z(graph)
    found = []
    for epsilon in EPSILONS:
        post = _posterior(graph, epsilon)
        paths = max(len(mode.constraints) for mode in post.modes)
        bound = (2 * paths + graph.n) * len(post.modes) * epsilon * math.log(1 / epsilon)
        found.append((abs(naive.mixture_kl(post, graph) - (log_z - post.log_z)), bound, post))
    return found


@pytest.fixture(scope="module")
def errors():
    return {(seed, attractive): _errors(seed, attractive) for seed in range(4) for attractive in (False, True)}


def test_the_cuts_are_soft(errors):
    """Somewhere a mode keeps less than all of its mass in its cell, or the lemma would be tested on equalities."""
    masses = [m.mass_inside for found in errors.values() for _, _, post in found[:2] for m in post.modes]
    assert min(masses) < 1 - 1e-5
    assert sum(len(found[0][2].modes) == N_MODES for found in errors.values()) >= 4


def test_modes_keep_their_mass(errors):
    for found in errors.values():
        for epsilon, (_, _, post) in zip(EPSILONS, found, strict=True):
            for mode in post.modes:
                assert mode.mass_inside >= 1 - len(mode.constraints) * epsilon - 1e-15


def test_the_error_is_of_the_order_of_epsilon_log_epsilon(errors):
    for found in errors.values():
        for error, bound, _ in found:
            assert error <= bound + 1e-9


def test_the_worst_error_falls_with_epsilon(errors):
    worst = np.array([[error for error, _, _ in found] for found in errors.values()]).max(0)
    assert (np.diff(worst) < 0).all()
    assert worst[-1] < 1e-4 < worst[0] < 1.0
