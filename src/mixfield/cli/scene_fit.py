"""``mixfield detect --learn-occluders --fit-views``: fit the scene of a recording."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from mixfield.io.footage import Footage
    from mixfield.scene.scene import Scene

LearnOccluders = Annotated[
    bool, typer.Option("--learn-occluders", help="Find what hides people in every frame, and leave it out.")
]
FitViews = Annotated[
    bool, typer.Option("--fit-views", help="Fit variances to the masks, or sizes of people in the local form.")
]

OCCLUDER_FRAMES = 200  # from which static occluders are learnt
FIT_FRAMES = 20  # to which views are fitted


def fit_scene(scene: Scene, footage: Footage, *, occluders: bool, views: bool) -> Scene:
    """The scene with learnt occluders and fitted views, as far as asked for.

    Frames are taken from the whole recording, whatever ``--frames`` says, so that runs on parts of it agree.
    """
    from mixfield.apps import fit_views, learn_occluders

    if occluders:
        scene = learn_occluders(scene, map(footage.masks, _sample(len(footage), OCCLUDER_FRAMES)))
    return fit_views(scene, map(footage.masks, _sample(len(footage), FIT_FRAMES))) if views else scene


def fit_facts(before: Scene, after: Scene) -> list[dict[str, Any]]:
    """Of each camera its name, the share of its pixels that hide people, its variance and the growth of its boxes.

    Nothing if the scene is the same.
    """
    facts: list[dict[str, Any]] = []
    if after is before:
        return facts
    for c, (old, new) in enumerate(zip(before.views, after.views, strict=True)):
        hidden = 0.0 if new.observed is None else 1.0 - float(new.observed.mean())
        tall = new.person_height() / max(old.person_height(), 1.0)
        facts.append({"camera": new.name or str(c), "hidden": hidden, "variance": after.scales[c], "height": tall})
    return facts


def fit_summary(facts: list[dict[str, Any]]) -> list[str]:
    """A line for each camera."""
    return [
        f"camera {one['camera']}: {100 * one['hidden']:.1f} % of the pixels hide people, "
        f"variance {one['variance']:.2g}, silhouettes {one['height']:.2f} times as tall as boxes"
        for one in facts
    ]


def _sample(length: int, count: int) -> list[int]:
    """At most ``count`` frame numbers, evenly spread."""
    return [length * k // count for k in range(count)] if length > count else list(range(length))
