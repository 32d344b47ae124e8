"""
Detect and track people
=======================

Two cameras give foreground masks. Where people occlude each other, several sets of positions explain the same masks.
``mf.detect`` returns several of them as weighted modes; ``mf.track`` chooses one mode per frame and the tracks of least
total cost.
"""

import matplotlib.pyplot as plt

import mixfield as mf

# %%
# Four people, nine frames of noisy masks, four modes per frame.

walk = mf.datasets.walking_people(n_people=4, n_cameras=2, n_frames=9, rng=0)
posteriors = [mf.detect(walk.scene, list(masks), n_modes=4) for masks in walk.masks]
tracks = mf.track(posteriors, walk.scene, frame_rate=4.0, max_speed=2.0)
print("mode chosen in each frame:", tracks.chosen_modes + 1, " optimality gap:", round(tracks.gap, 6), "%")

# %%
# A frame in which tracking chose another mode than the one of largest weight: its four modes on the ground plane, the
# true positions as crosses.

frame = int(tracks.chosen_modes.argmax())
figure = posteriors[frame].plot()
for k, (mode, axis) in enumerate(zip(posteriors[frame].modes, figure.axes, strict=True)):
    cells = walk.truth[frame] / walk.scene.ground.cell - 0.5
    axis.plot(*cells.T, "x", color="tab:orange", markersize=9, markeredgewidth=2)
    count = len(mf.positions(mode, walk.scene, one_per_person=True))
    chosen = ", chosen" if k == tracks.chosen_modes[frame] else ""
    axis.set_title(f"{axis.get_title()}\n{count} people{chosen}")
    axis.invert_yaxis()
plt.show()

# %%
# The masks of that frame, and the tracks over the true paths (grey).

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
