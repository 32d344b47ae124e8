"""By how many frames views are late: clocks of cameras differ, and people who walk then stand in two places.

Let ``g_i(l, o)`` be the nats that a view loses if person i, whom the first view shows in frame t, stands ``o`` cells
away in its own frame t + l, instead of at the best cell within `REACH`.  The lag of the view is

    argmin_l min_o sum_i log(1 + g_i(l, o)).

The offset o, the same for all people, takes up errors of calibration.  The logarithm is that of a Cauchy distribution:
people whom only one of the views shows have a large g wherever they are, and hardly count.  No truth is needed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mixfield import _arrays
from mixfield.apps.view_noise import REACH, relocation_costs
from mixfield.energy.occupancy import Occupancy
from mixfield.errors import MixfieldError
from mixfield.scene.scene import Scene
from mixfield.solvers.mean_field import mean_field

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

LONGEST = 3  # frames that a view may be early or late
LOOKED_AT = 100  # frames in which people of the first view are compared with the others


def fit_lags(scene: Scene, frames: Sequence[Sequence[ArrayLike]], *, longest: int = LONGEST) -> tuple[int, ...]:
    """The lag of each view: its frame t + lag shows what the first view shows in frame t, see `synchronise`.

    Parameters
    ----------
    scene : ground and cameras.
    frames : masks of successive frames, one mask per view each, as for `mixfield.detect`; people should walk in them.
        Clocks drift, so a long recording is fitted in parts.
    longest : largest lag in frames.
    """
    _arrays.at_least("longest", longest, 0)
    if len(frames) <= longest:
        raise MixfieldError(f"frames must hold more successive frames than longest = {longest}, got {len(frames)}")
    first = scene.of_views((0,))
    looked_at = range(0, len(frames), -(-len(frames) // LOOKED_AT))
    people = {t: mean_field(Occupancy(first, frames[t][:1])).marginals[..., 1] > 0.5 for t in looked_at}
    shortest_first, lags = sorted(range(-longest, longest + 1), key=abs), [0]
    for c in range(1, len(scene.views)):
        one, masks = scene.of_views((c,)), [frame[c] for frame in frames]
        lags.append(min(shortest_first, key=lambda lag: _misfit(one, masks, people, lag)))
    return tuple(lags)


def synchronise(frames: Sequence[Sequence[Any]], lags: Sequence[int]) -> list[list[Any]]:
    """The masks of each moment: of view c those of frame t + ``lags[c]``, or the nearest frame that there is."""
    last = len(frames) - 1
    return [[frames[min(max(t + lag, 0), last)][c] for c, lag in enumerate(lags)] for t in range(len(frames))]


def _misfit(scene: Scene, masks: Sequence[ArrayLike], people: dict[int, Bools], lag: int) -> float:
    """The mean of log(1 + g) over people, at the best offset; 0 where there are none."""
    reach = int(REACH / scene.ground.cell)
    found = [np.zeros((0, 2 * reach + 1, 2 * reach + 1))]
    for t, one in people.items():
        if 0 <= t + lag < len(masks):
            found.append(relocation_costs(Occupancy(scene, [masks[t + lag]]), one, scene, reach))
    costs = np.concatenate(found)
    finite = np.isfinite(costs)
    highest = np.where(finite, costs, -np.inf).max((1, 2), initial=-np.inf, keepdims=True)
    excess = np.where(finite, costs, highest) - costs.min((1, 2), initial=np.inf, keepdims=True)
    return float(np.log1p(excess).sum(0).min() / max(len(costs), 1))
