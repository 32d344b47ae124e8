"""What every set of tracks must keep: no cell twice, no jumps, no gaps, no beginnings or ends out of nowhere."""

from __future__ import annotations

from collections.abc import Mapping

from mixfield.temporal.choice import Path
from mixfield.temporal.timegrid import Motion


def violations(tracks: Mapping[int, Path], motion: Motion, frames: int) -> list[str]:
    """One sentence for each rule that a track breaks; none if all is well.

    Parameters
    ----------
    tracks : by identity.
    motion : how people move, come and go.
    frames : length of the sequence, in whose first and last frame tracks may begin and end anywhere.
    """
    found, taken = [], dict[tuple[int, int], int]()
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
            if (frame, cell) in taken:
                found.append(f"tracks {taken[frame, cell]} and {identity} share cell {cell} in frame {frame}")
            taken[frame, cell] = identity
            if frame > path.first and cell not in motion.neighbours[cells[frame - path.first - 1]]:
                found.append(f"track {identity} jumps to cell {cell} in frame {frame}")
    return found
