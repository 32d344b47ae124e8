"""
A video whose scores flicker
============================

A ball rolls past a poster that looks like it, and in some frames the scores of the network mistake the poster for a
second ball. On its own such a frame is answered wrong; but a segmentation without the mistake is among its modes, and
``mf.segment_video`` chooses it, since labels should follow the points they belong to.
"""

import matplotlib.pyplot as plt
import numpy as np

import mixfield as mf

# %%
# Eight small frames: a moving ball, a poster that stays, texture that optical flow can hold on to.

rows, columns = np.mgrid[:48, :80]
texture = np.random.default_rng(0).integers(0, 30, (48, 80, 1), np.uint8)
poster = (abs(columns - 62) < 9) & (abs(rows - 14) < 9)
frames, scores = [], []
for t in range(8):
    ball = (columns - 10 - 4 * t) ** 2 + (rows - 34) ** 2 < 80
    frames.append(np.where(ball[..., None], (205, 75, 55), np.where(poster[..., None], (190, 80, 60), (70, 90, 110))))
    frames[t] = (frames[t] + texture).astype(np.uint8)
    scores.append(np.where(ball, 0.85, np.where(poster, 0.65 if t in (2, 5) else 0.3, 0.15)))  # of "ball"

# %%
# Two segmentations of each frame, then one per frame: the sequence that agrees best with itself and with the evidence.

kernels = mf.Kernels(smooth_sxy=2, smooth_weight=2, sxy=15, srgb=20, weight=4)
posteriors = [mf.segment(frame, score, n_modes=2, kernels=kernels) for frame, score in zip(frames, scores, strict=True)]
found = mf.segment_video(frames, posteriors)
print("mode chosen in each frame:", found.chosen_modes, " points that found a partner:", found.matched.round(2))

# %%
# Above, the heaviest mode of each frame, with two mistakes; below, the chosen one.

figure, axes = plt.subplots(2, 6, figsize=(13, 3.2), layout="constrained")
for t, (above, below) in enumerate(axes.T, start=1):
    for axis, labels in ((above, posteriors[t].labelings()[0]), (below, found.labels[t])):
        axis.imshow(frames[t])
        axis.imshow(np.ma.masked_equal(labels, 0), cmap="Wistia", vmin=0, vmax=2, alpha=0.9)
        axis.set(xticks=[], yticks=[])
    above.set_title(f"frame {t}")
axes[0, 0].set_ylabel("frame by frame")
axes[1, 0].set_ylabel("video")
plt.show()
