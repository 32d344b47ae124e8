"""Fit the views of a scene to footage: the size of silhouettes, or how far each view can be believed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from numpy.typing import ArrayLike

from mixfield.apps.silhouette_fit import fit_silhouettes
from mixfield.apps.view_noise import fit_noise
from mixfield.errors import MixfieldError
from mixfield.scene.scene import Scene


def fit_views(scene: Scene, frames: Iterable[Sequence[ArrayLike]]) -> Scene:
    """The scene with what the masks of some frames tell about its views.

    Parameters
    ----------
    scene : ground and cameras.
    frames : masks of ten or more frames, one mask per view each, as for `mixfield.detect`.

    Returns
    -------
    Scene
        In the local form, with the boxes of people in each view fitted to the size of silhouettes
        (`mixfield.apps.silhouette_fit`); in the other forms, with variances that weigh down views which disagree with
        the first (`mixfield.apps.view_noise`).
    """
    masks = [list(frame) for frame in frames]
    if not masks:
        raise MixfieldError("frames must hold the masks of at least one frame, got none")
    for frame in masks:
        if len(frame) != len(scene.views):
            raise MixfieldError(f"frames must hold one mask per view ({len(scene.views)}) each, got {len(frame)}")
    return fit_silhouettes(scene, masks) if scene.form == "local" else fit_noise(scene, masks)
