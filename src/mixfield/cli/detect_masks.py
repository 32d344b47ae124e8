"""Whether the masks of ``mixfield detect`` show people: blobs with the size of a person."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mixfield.scene.scene import Scene

NEARLY_ALL = 0.9  # share of frames without anybody above which a camera is mentioned


def mask_summary(facts: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """Number of blobs of all masks, and the share of them that have the size of a person (0 without blobs)."""
    counts = [pair for frame in facts for pair in frame.get("blobs", [])]
    blobs, people = sum(pair[0] for pair in counts), sum(pair[1] for pair in counts)
    return {"blobs": blobs, "people_sized": people / blobs if blobs else 0.0}


def mask_notes(facts: Iterable[dict[str, Any]], scene: Scene, out: Path, computed: bool) -> list[str]:
    """A note for each camera in which nearly no frame has a blob with the size of a person."""
    frames = [frame["blobs"] for frame in facts if "blobs" in frame]
    notes = []
    for c, view in enumerate(scene.views):
        empty = sum(blobs[c][1] == 0 for blobs in frames)
        if frames and view.visible.any() and empty > NEARLY_ALL * len(frames):
            advice = (
                f'look at {out}/masks_*.png; try background = "KNN", or give masks'
                if computed
                else "check that they are white on black and of this camera"
            )
            name = view.name or c
            notes.append(
                f"masks of camera {name}: no blob has the size of a person in {empty} of {len(frames)} frames; {advice}"
            )
    return notes
