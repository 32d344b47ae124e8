"""Sequences of modes: the best one, and the probability of each mode (section 7.4 of the paper).

Each mode of a frame has a cost, and so has each transition from a mode of one frame to a mode of the next.  Costs are
minus logarithms of a chain's probability: `shortest_path` is Viterbi's algorithm, `mode_probabilities` the
forward-backward algorithm.  Where a transition is None, the chain is broken.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import logsumexp, softmax

from mixfield import _arrays
from mixfield.errors import MixfieldError

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def shortest_path(costs: Sequence[ArrayLike], steps: Sequence[ArrayLike | None]) -> Ints:
    """One mode per frame with the least sum of costs and transitions (Viterbi).

    Parameters
    ----------
    costs : T arrays (K_t,), of the modes of each frame.
    steps : T - 1 arrays (K_t, K_t+1) of transition costs, or None where the chain is broken.

    Examples
    --------
    >>> from mixfield.temporal.trellis import shortest_path
    >>> change = [[0, 1], [1, 0]]
    >>> shortest_path([[0, 3], [1, 0.5], [0, 3]], [change, change]).tolist()
    [0, 0, 0]
    """
    of_modes, of_steps = _checked(costs, steps)
    if not of_modes:
        return np.zeros(0, np.int64)
    cost_to, origins = of_modes[0], list[Ints]()
    for cost, step in zip(of_modes[1:], of_steps, strict=True):
        total = cost_to[:, None] + step
        origins.append(total.argmin(0))
        cost_to = total.min(0) + cost
    path = [int(cost_to.argmin())]
    for origin in reversed(origins):
        path.append(int(origin[path[-1]]))
    return np.array(path[::-1], np.int64)


def mode_probabilities(costs: Sequence[ArrayLike], steps: Sequence[ArrayLike | None]) -> list[Floats]:
    """T arrays (K_t,): the probability of each mode where sequences have probabilities ``exp(-cost)``, normalised.

    The parameters are those of `shortest_path`.

    Examples
    --------
    >>> from mixfield.temporal.trellis import mode_probabilities
    >>> change = [[0, 9], [9, 0]]
    >>> [p.round(2).tolist() for p in mode_probabilities([[0, 2], [0.5, 0]], [change])]
    [[0.82, 0.18], [0.82, 0.18]]
    """
    of_modes, of_steps = _checked(costs, steps)
    forward, backward = _messages(of_modes, of_steps), _messages(of_modes[::-1], [step.T for step in of_steps[::-1]])
    return [  # both directions count the cost of the mode itself
        np.asarray(softmax(before + after + cost))
        for before, after, cost in zip(forward, backward[::-1], of_modes, strict=True)
    ]


def _messages(costs: Sequence[Floats], steps: Sequence[Floats]) -> list[Floats]:
    """Logarithm of the sum over the sequences that end at each mode of each frame."""
    found: list[Floats] = []
    for t, cost in enumerate(costs):
        arriving = logsumexp(found[-1][:, None] - steps[t - 1], axis=0) if t else np.zeros(len(cost))
        found.append(np.asarray(arriving - cost))
    return found


def _checked(costs: Sequence[ArrayLike], steps: Sequence[ArrayLike | None]) -> tuple[list[Floats], list[Floats]]:
    """Costs, and transitions with zeros where the chain is broken."""
    if len(steps) != max(0, len(costs) - 1):
        raise MixfieldError(f"steps must be one fewer than costs ({len(costs)}), got {len(steps)}")
    of_modes = [_arrays.floats("costs", cost).ravel() for cost in costs]
    if any(len(cost) == 0 for cost in of_modes):
        raise MixfieldError("costs must have an entry for each mode of a frame, got a frame with none")
    of_steps: list[Floats] = []
    for before, after, step in zip(of_modes, of_modes[1:], steps, strict=False):
        shape = (len(before), len(after))
        of_steps.append(np.zeros(shape) if step is None else _arrays.floats("steps", step))
        _arrays.check_shape("steps", of_steps[-1], shape, "= (modes before, modes now)")
    return of_modes, of_steps
