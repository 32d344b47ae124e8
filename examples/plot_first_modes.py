"""
First modes
===========

Mean field answers with one labeling and hides its doubt. On a grid whose lower right quarter is strongly coupled but
has no evidence, that one labeling is a coin toss. A mixture of two mean fields returns both sides, with their
probabilities, and since the grid is small the exact answer tells whether they are right.
"""

import matplotlib.pyplot as plt

import mixfield as mf
from mixfield.solvers import critical_temperature

# %%
# A field of 16 x 16 binary variables: evidence in the top half only, coupling strong in the right half only.

graph = mf.datasets.four_zones(16)
single = mf.mean_field(graph, anneal_from=critical_temperature(graph))
post = mf.infer(graph, n_modes=2)
truth = mf.exact(graph)

# %%
# The mixture is nearer to the truth (its distance is log Z minus its bound), and its weights are nearly the exact odds.

print(f"KL of mean field {truth.log_z - single.log_z:.3f}, of the mixture {truth.log_z - post.log_z:.3f} nats")
print("weights", post.weights.round(3))

# %%

figure, axes = plt.subplots(1, 4, figsize=(11, 3.2), layout="constrained")
axes[0].imshow(single.marginals[..., 1], cmap="Greys_r", vmin=0, vmax=1)
axes[0].set_title("mean field: no doubt")
axes[0].set(xticks=[], yticks=[])
post.plot(axes=axes[1:3])
axes[3].imshow(truth.marginals[..., 1], cmap="Greys_r", vmin=0, vmax=1)
axes[3].set_title("exact marginals")
axes[3].set(xticks=[], yticks=[])
plt.show()
