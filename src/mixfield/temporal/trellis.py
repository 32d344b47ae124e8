"""The best sequence of modes through time: shortest paths in a trellis (section 7.4 of the paper).

Every frame has some modes, each with a cost; a step from a mode of one frame to a mode of the next has another.  Where
a step is ``None`` the chain is broken: what comes after is decided without what came before.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mixfield import _arrays
from mixfield.errors import MixfieldError

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def shortest_path(costs: Sequence[ArrayLike], steps: Sequence[ArrayLike | None]) -> Ints:
    """One mode per frame such that costs and steps together are lowest (Viterbi).

    Parameters
    ----------
    costs : T arrays (K_t,), of the modes of each frame.
    steps : T - 1 arrays (K_t, K_t+1), between successive frames, or None where the chain is broken.

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
    """The same for a stream: the mode of a frame is decided when ``lag`` more frames are known.

    Attributes
    ----------
    lag : frames to wait before a decision, None to wait for the end.  Decisions are kept: later frames follow from
        the mode that was chosen.
    """

    lag: int | None = None
    _reached: Floats = field(default_factory=lambda: np.zeros(0), repr=False)
    _back: list[Ints] = field(default_factory=list, repr=False)

    def __post_init__(self) -> None:
        if self.lag is not None:
            _arrays.at_least("lag", self.lag, 0)

    def advance(self, cost: ArrayLike, step: ArrayLike | None) -> list[int]:
        """Take the next frame; returns the modes of the frames that are decided now, oldest first.

        Parameters
        ----------
        cost : (K,) of the modes of the frame.
        step : (modes of the frame before, K), or None if there is none or the chain is broken here.
        """
        costs = _arrays.floats("cost", cost).ravel()
        if len(costs) == 0:
            raise MixfieldError("cost must have an entry for each mode of the frame, got none")
        decided: list[int] = []
        if step is None or len(self._reached) == 0:
            decided = self.finish()
            self._reached = costs
            self._back = [np.zeros(len(costs), np.int64)]
        else:
            steps = _arrays.floats("step", step)
            _arrays.check_shape("step", steps, (len(self._reached), len(costs)), "= (modes before, modes now)")
            total = self._reached[:, None] + steps
            self._back.append(total.argmin(0))
            self._reached = total.min(0) + costs
        while self.lag is not None and len(self._back) > self.lag:
            decided.append(self._decide())
        return decided

    def finish(self) -> list[int]:
        """The modes of all frames that are left; the next frame starts a new chain."""
        path = self._path()
        self._reached, self._back = np.zeros(0), []
        return path

    def _path(self) -> list[int]:
        """The best way to where we are, oldest frame first."""
        if not self._back:
            return []
        path = [int(self._reached.argmin())]
        for back in self._back[:0:-1]:
            path.append(int(back[path[-1]]))
        return path[::-1]

    def _decide(self) -> int:
        """Choose the mode of the oldest frame, and drop the ways that do not come from it."""
        chosen = self._path()[0]
        came = np.arange(len(self._reached))
        for back in self._back[:0:-1]:
            came = back[came]
        self._reached = np.where(came == chosen, self._reached, np.inf)
        self._back = self._back[1:]
        return chosen


def total_cost(path: Iterable[int], costs: Sequence[ArrayLike], steps: Sequence[ArrayLike | None]) -> float:
    """What a sequence of modes costs."""
    modes = list(path)
    total = sum(float(np.asarray(cost)[mode]) for mode, cost in zip(modes, costs, strict=True))
    for before, after, step in zip(modes, modes[1:], steps, strict=False):
        total += 0.0 if step is None else float(np.asarray(step)[before, after])
    return total
