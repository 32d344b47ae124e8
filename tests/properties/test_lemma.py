"""The paper's lemma A.1: with soft cuts, KL(Q || P) = log Z - log Z~ up to O(eps log(1/eps)).

The error has a name and hence a constant.  With m_k = exp(A_k) / Z~,

    KL(Q || P) = log Z - log Z~ + sum_k m_k E_{Q_k}[log(Q / (m_k Q_k))],

and the last sum is H(mode | state), how uncertain the mode is once the state is seen.  The cell of the state names the
mode, wrongly with probability delta = sum_k m_k (1 - mass_inside_k) <= C eps, C the number of constraints on a path, so
by Fano's inequality, with K modes and h the binary entropy,

    0 <= error <= h(delta) + delta log(K - 1) <= C eps (log(1 / (C eps)) + 1 + log(K - 1)).
"""

from __future__ import annotations

import math
import warnings

import naive
import numpy as np
import pytest

import mixfield as mf
from mixfield.energy import grid_edges
from mixfield.errors import FewerModesWarning
from mixfield.mixture import Search, breadth_first

EPSILONS = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6)
N_MODES = 4


def _field(seed, attractive):
    """A 3 x 4 Ising field with a high critical temperature: strong couplings, weak fields."""
    rng = np.random.default_rng(seed)
    edges = grid_edges((3, 4))
    coupling = rng.uniform(0.5, 1.5, len(edges)) * (1 if attractive else rng.choice([-1, 1], len(edges)))
    return mf.FactorGraph.ising(rng.uniform(-0.2, 0.2, (3, 4)), edges, coupling)


def _posterior(graph, epsilon):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FewerModesWarning)
        return mf.infer(
            graph,
            N_MODES,
            criterion=mf.criteria.PhaseTransition(mf.criteria.RandomGroup(3)),
            clamp=mf.constraints.Clamp(epsilon=epsilon),
            order=breadth_first,
            search=Search(root=6, root_sweeps=50, leaf_sweeps=20),
        )


def _fano(delta, n_modes):
    """The largest conditional entropy of one of ``n_modes`` that is guessed wrongly with probability ``delta``."""
    if delta <= 0 or n_modes < 2:
        return 0.0
    entropy = -delta * math.log(delta) - (1 - delta) * math.log1p(-delta)
    return entropy + delta * math.log(n_modes - 1)


def _errors(seed, attractive):
    """KL - (log Z - log Z~) and the posterior, for each epsilon."""
    graph = _field(seed, attractive)
    log_z = naive.log_z(graph)
    found = []
    for epsilon in EPSILONS:
        post = _posterior(graph, epsilon)
        found.append((naive.mixture_kl(post, graph) - (log_z - post.log_z), post))
    return found


@pytest.fixture(scope="module")
def errors():
    return {(seed, attractive): _errors(seed, attractive) for seed in range(4) for attractive in (False, True)}


def test_the_cuts_are_soft(errors):
    """Somewhere a mode keeps less than all of its mass in its cell, or the lemma would be tested on equalities."""
    masses = [m.mass_inside for found in errors.values() for _, post in found[:2] for m in post.modes]
    assert min(masses) < 1 - 1e-5
    assert sum(len(found[0][1].modes) == N_MODES for found in errors.values()) >= 4


def test_modes_keep_their_mass(errors):
    for found in errors.values():
        for epsilon, (_, post) in zip(EPSILONS, found, strict=True):
            for mode in post.modes:
                assert mode.mass_inside >= 1 - len(mode.constraints) * epsilon - 1e-15


def test_the_error_is_below_fanos_bound(errors):
    for found in errors.values():
        for error, post in found:
            delta = sum(w * (1 - mode.mass_inside) for w, mode in zip(post.weights, post.modes, strict=True))
            assert -1e-9 <= error <= _fano(delta, len(post.modes)) + 1e-9


def test_the_error_is_of_the_order_of_epsilon_log_epsilon(errors):
    for found in errors.values():
        for epsilon, (error, post) in zip(EPSILONS, found, strict=True):
            delta = epsilon * max(len(mode.constraints) for mode in post.modes)
            if delta == 0:  # one mode
                assert error == pytest.approx(0.0, abs=1e-9)
                continue
            assert error <= delta * (math.log(1 / delta) + 1 + math.log(max(1, len(post.modes) - 1))) + 1e-9


def test_the_worst_error_falls_with_epsilon(errors):
    worst = np.array([[error for error, _ in found] for found in errors.values()]).max(0)
    assert (np.diff(worst) < 0).all()
    assert worst[-1] < 1e-4 < worst[0] < 0.2
