"""
An energy of your own
=====================

An energy needs no base class. It is any object with a shape, a number of labels and three functions: the cost of a
labeling, the expected cost under independent marginals, and the expected cost of each label of each variable.
"""

import matplotlib.pyplot as plt
import numpy as np

import mixfield as mf

# %%
# Each of sixty voters gains by voting with the majority, and has a private preference. The energy depends only on the
# number of votes and the private costs; no table over pairs of voters is built.


class Majority:
    """Voters who gain by voting with the majority; ``opinion`` (n,) is the cost of voting 1 for each."""

    n_labels = 2

    def __init__(self, opinion, strength):
        self.opinion, self.strength, self.shape = opinion, strength, opinion.shape

    def of(self, x):
        return self.opinion @ x - self.strength * (np.mean(x) - 0.5) ** 2

    def expected(self, q):
        p = q[:, 1]
        return self.opinion @ p - self.strength * ((p.mean() - 0.5) ** 2 + np.sum(p * (1 - p)) / len(p) ** 2)

    def local_field(self, q):
        p, n = q[:, 1], len(q)
        slope = -self.strength / n**2 * (2 * (p.sum() - p - n / 2) + 1)
        return np.stack([np.zeros(n), self.opinion + slope], axis=-1)


# %%
# There are two modes, one for each majority; mean field returns one of them.

opinion = np.random.default_rng(1).normal(0, 2, 60)
opinion -= opinion.mean() + 0.01  # nearly balanced
post = mf.infer(Majority(opinion, strength=300.0), n_modes=2)
print("votes for 1:", post.labelings().sum(1), "with probability", post.weights.round(3))

# %%

figure, axis = plt.subplots(figsize=(7, 3.6), layout="constrained")
costs = np.linspace(-8, 8, 200)
axis.plot(costs, 1 / (1 + np.exp(costs)), "--", color="grey", label="without interaction")
for k, mode in enumerate(post.modes):
    axis.plot(opinion, mode.marginals[:, 1], "o", label=f"mode {k + 1}, probability {100 * post.weights[k]:.0f} %")
axis.set(xlabel="private cost of voting 1", ylabel="P(votes 1)", title="Marginals of the two modes")
axis.legend(loc="center right")
plt.show()
