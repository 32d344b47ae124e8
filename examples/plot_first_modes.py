"""
First modes
===========

Mean field returns a single labeling. On a grid whose lower right quarter is strongly coupled but has no evidence, that
quarter has two likely states, and mean field returns one of them with marginals near 0 and 1. A mixture of two mean
fields returns both with their probabilities. The grid is small enough to compare with the exact answer.
"""

import matplotlib.pyplot as plt

import mixfield as mf
from mixfield.solvers import critical_temperature

# %%
# A grid of 16 x 16 binary variables: unary evidence in the top half only, strong coupling in the right half only.

graph = mf.datasets.four_zones(16)
single = mf.mean_field(graph, anneal_from=critical_temperature(graph))
post = mf.infer(graph, n_modes=2)
truth = mf.exact(graph)

# %%
# The KL divergence of an approximation to the posterior is log Z minus its bound. That of the mixture is smaller.

print(f"KL of mean field {truth.log_z - single.log_z:.3f}, of the mixture {truth.log_z - post.log_z:.3f} nats")
print("weights", post.weights.round(3))

# %%

figure, axes = plt.subplots(1, 4, figsize=(11, 3.2), layout="constrained")
axes[0].imshow(single.marginals[..., 1], cmap="Greys_r", vmin=0, vmax=1)
axes[0].set_title("mean field")
axes[0].set(xticks=[], yticks=[])
post.plot(axes=axes[1:3])
axes[3].imshow(truth.marginals[..., 1], cmap="Greys_r", vmin=0, vmax=1)
axes[3].set_title("exact marginals")
axes[3].set(xticks=[], yticks=[])
plt.show()
