"""
A video with flickering scores
==============================

A ball moves to the right. In two frames the scores of the network miss it, and the mode of largest weight has no ball;
another mode of the same frame has it. ``mf.segment_video`` chooses one mode per frame: regions that have the colours
of the ball in other frames, and its shape in the frames around, are the ball.
"""

import matplotlib.pyplot as plt
import numpy as np

import mixfield as mf

# %%
# Eight small frames: a moving ball.

rows, columns = np.mgrid[:48, :80]
texture = np.random.default_rng(0).integers(0, 30, (48, 80, 1), np.uint8)
frames, scores = [], []
for t in range(8):
    ball = (columns - 16 - 5 * t) ** 2 + (rows - 26) ** 2 < 120
    colours = np.where(ball[..., None], (205, 75, 55), (70, 90, 110))
    frames.append((colours + texture).astype(np.uint8))
    scores.append(np.where(ball, 0.35 if t in (2, 5) else 0.85, 0.15))  # probability of "ball"

# %%
# Two modes per frame, then one of them by a shortest path.

kernels = mf.Kernels(smooth_sxy=2, smooth_weight=2, sxy=15, srgb=20, weight=4)
posteriors = [mf.segment(frame, score, n_modes=2, kernels=kernels) for frame, score in zip(frames, scores, strict=True)]
found = mf.segment_video(frames, posteriors, scores=scores)
print("mode chosen in each frame:", found.chosen_modes, " its probability:", found.probabilities.round(2))

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
