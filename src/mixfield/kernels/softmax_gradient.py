"""The derivative of the softmax of dense fields, in single or double precision."""

from __future__ import annotations

import numpy as np

from mixfield.kernels.jit import AnyFloats, Integer, jit


@jit(fastmath=True)
def pull_back(q: AnyFloats, q_bar: AnyFloats, n_labels: Integer, z_bar: AnyFloats, total: AnyFloats) -> None:
    """z_bar = q (q_bar - sum_l q q_bar): the transposed Jacobian of q = softmax(z); it is also added to ``total``.

    All are (b, C), of which the first ``n_labels`` channels are in use.
    """
    for p in range(len(q)):
        mean = q[p, 0] * q_bar[p, 0]
        for l in range(1, n_labels):
            mean += q[p, l] * q_bar[p, l]
        for l in range(n_labels):
            z_bar[p, l] = q[p, l] * (q_bar[p, l] - mean)
            total[p, l] += z_bar[p, l]


@jit(fastmath=True)
def pull_back_log(log_q: AnyFloats, log_q_bar: AnyFloats, z_bar: AnyFloats) -> None:
    """z_bar = log_q_bar - q sum_l log_q_bar: the transposed Jacobian of log q = log softmax(z).

    ``log_q`` and ``log_q_bar`` (n, L), ``z_bar`` (n, C).
    """
    n_labels = log_q.shape[1]
    for p in range(len(log_q)):
        mass = log_q_bar[p, 0]
        for l in range(1, n_labels):
            mass += log_q_bar[p, l]
        for l in range(n_labels):
            z_bar[p, l] = log_q_bar[p, l] - np.exp(log_q[p, l]) * mass
