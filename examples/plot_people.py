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
# Four people, nine frames of noisy masks, and four explanations of each.

walk = mf.datasets.walking_people(n_people=4, n_cameras=2, n_frames=9, rng=0)
posteriors = [mf.detect(walk.scene, list(masks), n_modes=4) for masks in walk.masks]
tracks = mf.track(posteriors, walk.scene, frame_rate=4.0, max_speed=2.0)
print("mode chosen in each frame:", tracks.chosen_modes + 1, " gap to the best choice:", round(tracks.gap, 6), "%")

# %%
# A frame in which time overruled the heaviest mode: its four explanations from above, the truth as crosses.

frame = int(tracks.chosen_modes.argmax())
figure = posteriors[frame].plot()
for k, (mode, axis) in enumerate(zip(posteriors[frame].modes, figure.axes, strict=True)):
    cells = walk.truth[frame] / walk.scene.ground.cell - 0.5
    axis.plot(*cells.T, "x", color="tab:orange", markersize=9, markeredgewidth=2)
    count = len(positions(mode, walk.scene, one_per_person=True))
    chosen = ", chosen" if k == tracks.chosen_modes[frame] else ""
    axis.set_title(f"{axis.get_title()}\n{count} people{chosen}")
    axis.invert_yaxis()
plt.show()

# %%
# The masks that each of them explains, and the tracks beside the true paths (grey).

figure, axes = plt.subplots(1, 3, figsize=(11, 3.2), layout="constrained")
for c, axis in enumerate(axes[:2]):
    axis.imshow(walk.masks[frame, c], cmap="Greys_r")
    axis.set_title(f"camera {c}, frame {frame}")
    axis.set_axis_off()
axes[2].plot(*walk.truth.transpose(2, 0, 1), color="lightgrey", linewidth=6, solid_capstyle="round")
for rows in tracks.by_identity.values():
    axes[2].plot(rows["x"], rows["y"], "o-", markersize=4)
axes[2].set(title="tracks", xlim=(0, 6), ylim=(0, 6), aspect="equal", xlabel="metres")
plt.show()
