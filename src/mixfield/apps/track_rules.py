"""Constraints on tracks: disjoint cells, steps within reach, beginnings and ends at doors."""

from __future__ import annotations

from collections.abc import Mapping

from mixfield.temporal.choice import Path
from mixfield.temporal.timegrid import Motion


def violations(tracks: Mapping[int, Path], motion: Motion, frames: int) -> list[str]:
    """One sentence for each violated constraint.

    Parameters
    ----------
    tracks : by identity.
    motion : how people move, enter and leave.
    frames : length of the sequence; in its first and last frame tracks may begin and end anywhere.
    """
    found, occupied = [], dict[tuple[int, int], int]()
    doors = motion.doors.ravel()
    for identity, path in tracks.items():
        cells = path.cells.tolist()
        last = path.first + len(cells) - 1
        if not cells or path.first < 0 or last >= frames or min(cells) < 0 or max(cells) >= motion.n:
            found.append(f"track {identity} leaves the sequence or the ground")
            continue
        if path.first > 0 and not doors[cells[0]]:
            found.append(f"track {identity} begins in frame {path.first} at cell {cells[0]}, which is no door")
        if last < frames - 1 and not doors[cells[-1]]:
            found.append(f"track {identity} ends in frame {last} at cell {cells[-1]}, which is no door")
        for frame, cell in zip(path.frames.tolist(), cells, strict=True):
            if (frame, cell) in occupied:
                found.append(f"tracks {occupied[frame, cell]} and {identity} share cell {cell} in frame {frame}")
            occupied[frame, cell] = identity
            if frame > path.first and cell not in motion.neighbours[cells[frame - path.first - 1]]:
                found.append(f"track {identity} jumps to cell {cell} in frame {frame}")
    return found
