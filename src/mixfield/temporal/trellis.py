"""The best sequence of modes: shortest paths in a trellis, by Viterbi's algorithm (section 7.4 of the paper).

Each mode of a frame has a cost, and so has each transition from a mode of one frame to a mode of the next.  Where a
transition is None, the chain is broken: the frames after it do not depend on those before.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

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
    if len(steps) != max(0, len(costs) - 1):
        raise MixfieldError(f"steps must be one fewer than costs ({len(costs)}), got {len(steps)}")
    trellis = Trellis()
    chosen: list[int] = []
    for cost, step in zip(costs, [None, *steps], strict=False):
        chosen += trellis.advance(cost, step)
    return np.array(chosen + trellis.finish(), np.int64)


@dataclass
class Trellis:
    """`shortest_path` for a stream: the mode of a frame is decided after ``lag`` more frames.

    Attributes
    ----------
    lag : frames between a frame and its decision, None to decide at the end.  Decisions are final: later frames
        continue from the chosen mode.
    """

    lag: int | None = None
    _cost_to: Floats = field(default_factory=lambda: np.zeros(0), repr=False)
    _back: list[Ints] = field(default_factory=list, repr=False)

    def __post_init__(self) -> None:
        if self.lag is not None:
            _arrays.at_least("lag", self.lag, 0)

    def advance(self, cost: ArrayLike, step: ArrayLike | None) -> list[int]:
        """Add a frame; returns the modes of the frames that are decided by it, oldest first.

        Parameters
        ----------
        cost : (K,) of the modes of the frame.
        step : (modes of the frame before, K) transition costs, None if the chain begins here.
        """
        costs = _arrays.floats("cost", cost).ravel()
        if len(costs) == 0:
            raise MixfieldError("cost must have an entry for each mode of the frame, got none")
        decided: list[int] = []
        if step is None or len(self._cost_to) == 0:
            decided = self.finish()
            self._cost_to = costs
            self._back = [np.zeros(len(costs), np.int64)]
        else:
            steps = _arrays.floats("step", step)
            _arrays.check_shape("step", steps, (len(self._cost_to), len(costs)), "= (modes before, modes now)")
            total = self._cost_to[:, None] + steps
            self._back.append(total.argmin(0))
            self._cost_to = total.min(0) + costs
        while self.lag is not None and len(self._back) > self.lag:
            decided.append(self._decide())
        return decided

    def finish(self) -> list[int]:
        """Decide all remaining frames; the next frame begins a new chain."""
        path = self._path()
        self._cost_to, self._back = np.zeros(0), []
        return path

    def _path(self) -> list[int]:
        """Backtrack the best path, oldest frame first."""
        if not self._back:
            return []
        path = [int(self._cost_to.argmin())]
        for back in self._back[:0:-1]:
            path.append(int(back[path[-1]]))
        return path[::-1]

    def _decide(self) -> int:
        """Choose the mode of the oldest frame, and drop the paths that do not begin with it."""
        chosen = self._path()[0]
        origin = np.arange(len(self._cost_to))
        for back in self._back[:0:-1]:
            origin = back[origin]
        self._cost_to = np.where(origin == chosen, self._cost_to, np.inf)
        self._back = self._back[1:]
        return chosen
