"""
People behind people
====================

Two cameras see silhouettes in a room. Where people hide each other, several groups of people explain the same masks.
``mf.detect`` returns several explanations with their probabilities; ``mf.track`` then chooses one per frame so that the
tracks through time make sense.
"""

import matplotlib.pyplot as plt

import mixfield as mf
from mixfield.apps.detection import positions

# %%
# Four people, six frames of noisy masks, and four explanations of each.

walk = mf.datasets.walking_people(n_people=4, n_cameras=2, n_frames=6, rng=0)
posteriors = [mf.detect(walk.scene, list(masks), n_modes=4) for masks in walk.masks]
tracks = mf.track(posteriors, walk.scene, frame_rate=4.0)
print("mode chosen in each frame:", tracks.chosen_modes, " gap to the best choice:", round(tracks.gap, 6), "%")

# %%
# The modes of the first frame, from above, with the truth as crosses; below, the mask that both must explain.

figure = posteriors[0].plot()
for mode, axis in zip(posteriors[0].modes, figure.axes, strict=True):
    cells = walk.truth[0] / walk.scene.ground.cell - 0.5
    axis.plot(*cells.T, "x", color="tab:orange", markersize=9, markeredgewidth=2)
    axis.set_title(f"{axis.get_title()}\n{len(positions(mode, walk.scene))} people")
    axis.invert_yaxis()
plt.show()

# %%

figure, axes = plt.subplots(1, 3, figsize=(11, 3.2), layout="constrained")
for c, axis in enumerate(axes[:2]):
    axis.imshow(walk.masks[0, c], cmap="Greys_r")
    axis.set_title(f"camera {c}, frame 0")
    axis.set_axis_off()
for rows in tracks.by_identity.values():
    axes[2].plot(rows["x"], rows["y"], "o-", markersize=4)
axes[2].set(title="tracks", xlim=(0, 6), ylim=(0, 6), aspect="equal", xlabel="metres")
plt.show()
