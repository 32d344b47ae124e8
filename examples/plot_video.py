"""
A video with flickering scores
==============================

A ball moves to the right. In two frames the scores of the network miss it, and mean field has no ball;
another mode of the same frame has it. ``mf.segment_video`` chooses one mode per frame such that few matched points
change their label.
"""

from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np

import mixfield as mf
from mixfield.apps import FieldModel

# %%
# Eight small frames: a moving ball, and texture for the optical flow.

rows, columns = np.mgrid[:48, :80]
texture = np.random.default_rng(0).integers(0, 30, (48, 80, 1), np.uint8)
frames, scores = [], []
for t in range(8):
    ball = (columns - 16 - 5 * t) ** 2 + (rows - 26) ** 2 < 120
    colours = np.where(ball[..., None], (205, 75, 55), (70, 90, 110))
    frames.append((colours + texture).astype(np.uint8))
    scores.append(np.where(ball, 0.35 if t in (2, 5) else 0.85, 0.15))  # probability of "ball"

# %%
# Two modes per frame with calibrated weights; the kernels are narrower than those of the default model, because the
# frames are small. Then one mode per frame by a shortest path.

kernels = mf.Kernels(smooth_sxy=2, smooth_weight=2, sxy=15, srgb=20, weight=4)
model = replace(FieldModel.default(), kernels=kernels)
posteriors = [mf.segment(frame, score, 2, model=model) for frame, score in zip(frames, scores, strict=True)]
found = mf.segment_video(frames, posteriors)
print("mode chosen in each frame:", found.chosen_modes, " share of matched points:", found.matched.round(2))

# %%
# Above, mean field of each frame, with two errors; below, the chosen mode.

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
