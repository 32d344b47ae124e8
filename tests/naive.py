"""The slow, obvious twin of every kernel, and truth by enumeration of all states.

Everything here takes a list of factors ``(variables, table)`` and walks it with plain loops.
"""

from __future__ import annotations

import itertools
import math

import numpy as np

# ---------------------------------------------------------------- truth by enumeration


def states(counts):
    """Every labeling."""
    return np.array(list(itertools.product(*(range(c) for c in counts))), int).reshape(-1, len(counts))


def cost(factors, x):
    """Cost of one labeling."""
    return sum(float(table[tuple(x[i] for i in scope)]) for scope, table in factors)


def costs(graph):
    """Every labeling of a graph and its cost."""
    every = states(graph.label_counts)
    total = np.zeros(len(every))
    for scope, table in graph.factors():
        total += table[tuple(every[:, i] for i in scope)]
    return every, total


def log_sum_exp(values):
    top = max(values)
    if top == -math.inf:
        return top
    return top + math.log(math.fsum(math.exp(v - top) for v in values))


def log_z(graph):
    return log_sum_exp([-c for c in costs(graph)[1]])


def marginals(graph):
    """(n, L) exact marginals."""
    every, energy = costs(graph)
    probability = np.exp(-energy - log_z(graph))
    out = np.zeros((len(graph.label_counts), graph.n_labels))
    for x, p in zip(every, probability, strict=True):
        out[range(len(x)), x] += p
    return out


def product_probability(q, x):
    """Probability of a labeling under the product distribution ``q`` (n, L)."""
    return math.prod(q[i, label] for i, label in enumerate(x))


def mass_where(q, counts, holds):
    """Probability under ``q`` that ``holds(x)``."""
    return math.fsum(product_probability(q, x) for x in states(counts) if holds(x))


def mixture_kl(posterior, graph):
    """KL(Q || P) of a mixture, state by state."""
    every, energy = costs(graph)
    exact = log_z(graph)
    total = 0.0
    weights = posterior.weights
    tables = [mode.marginals.reshape(-1, graph.n_labels) for mode in posterior.modes]
    variables = np.arange(every.shape[1])
    density = sum(w * np.prod(q[variables, every], axis=1) for w, q in zip(weights, tables, strict=True))
    for q_x, e in zip(density, energy, strict=True):
        if q_x > 0:
            total += q_x * (math.log(q_x) + e + exact)
    return total


# ---------------------------------------------------------------- kernels.sweeps


def expected(factors, q):
    """Expected cost under ``q`` (n, L); states of probability zero cost nothing."""
    total = 0.0
    for scope, table in factors:
        for x in itertools.product(*(range(size) for size in np.shape(table))):
            p = math.prod(q[i, label] for i, label in zip(scope, x, strict=True))
            if p > 0:
                total += p * float(table[x])
    return total


def local_field(factors, q, i):
    """Expected cost of each label of variable ``i``: the sum over the factors that contain it."""
    field = np.zeros(q.shape[1])
    has = np.zeros(q.shape[1], bool)
    for scope, table in factors:
        if i not in scope:
            continue
        slot = scope.index(i)
        has[: table.shape[slot]] = True
        for x in itertools.product(*(range(size) for size in table.shape)):
            p = math.prod(q[j, label] for a, (j, label) in enumerate(zip(scope, x, strict=True)) if a != slot)
            if p > 0:
                field[x[slot]] += p * float(table[x])
    field[~has] = np.inf
    return field


def boltzmann(field, beta):
    lowest = min(field)
    weights = [math.exp((lowest - f) * beta) for f in field]
    return np.array(weights) / sum(weights)


def pivotal(p, threshold, u):
    """Probability that exactly ``threshold - 1`` of the members other than ``u`` take their label."""
    others = [x for v, x in enumerate(p) if v != u]
    total = 0.0
    for votes in itertools.product([0, 1], repeat=len(others)):
        if sum(votes) == threshold - 1:
            total += math.prod(x if vote else 1 - x for x, vote in zip(others, votes, strict=True))
    return total


def update(factors, q, i, beta, counts=()):
    """The optimum of variable ``i`` given the others; ``counts`` are (group, labels, threshold, weight)."""
    field = local_field(factors, q, i)
    for group, labels, threshold, weight in counts:
        for u, (j, label) in enumerate(zip(group, labels, strict=True)):
            if j == i:
                p = [q[v, l] for v, l in zip(group, labels, strict=True)]
                field[label] += weight * pivotal(p, threshold, u)
    return boltzmann(field, beta)


def ascend(factors, q, order, beta, tolerance, max_sweeps, counts=()):
    """Coordinate ascent; returns marginals, sweeps and the last change."""
    q = q.copy()
    sweeps, change = 0, math.inf
    while sweeps < max_sweeps and change > tolerance:
        change = 0.0
        for i in order:
            new = update(factors, q, i, beta, counts)
            change = max(change, float(np.abs(new - q[i]).max()))
            q[i] = new
        sweeps += 1
    return q, sweeps, change


MASK = 2**64 - 1


def splitmix(state):
    """The next state of splitmix64 and a number in [0, 1)."""
    state = (state + 0x9E3779B97F4A7C15) & MASK
    z = state
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    z ^= z >> 31
    return state, (z >> 11) / 2**53


def draw(factors, q, order, betas, seed):
    """Gibbs sampling, one sweep per inverse temperature: the label on whose share of [0, 1) the number falls."""
    q, state = q.copy(), int(seed)
    for beta in betas:
        for i in order:
            probability = update(factors, q, i, beta)
            state, uniform = splitmix(state)
            label = min(int(np.searchsorted(np.cumsum(probability), uniform, side="right")), q.shape[1] - 1)
            q[i] = np.arange(q.shape[1]) == label
    return q


# ---------------------------------------------------------------- kernels.binary


def binary_update(weight, bias, beta, i, p):
    """``weight`` (n, n) symmetric: the probability of label 1 of variable i given the others."""
    field = bias[i] + sum(weight[i, j] * p[j] for j in range(len(p)) if weight[i, j])
    return 1.0 / (1.0 + math.exp(field * beta))


def binary_ascend(weight, bias, beta, order, p, tolerance, max_sweeps):
    p = p.copy()
    sweeps, change = 0, math.inf
    while sweeps < max_sweeps and change > tolerance:
        change = 0.0
        for i in order:
            new = binary_update(weight, bias, beta, i, p)
            change = max(change, abs(new - p[i]))
            p[i] = new
        sweeps += 1
    return p, sweeps, change


def binary_draw(weight, bias, betas, order, p, seed):
    p, state = p.copy(), int(seed)
    for beta in betas:
        for i in order:
            state, uniform = splitmix(state)
            p[i] = 1.0 if uniform < binary_update(weight, bias, beta, i, p) else 0.0
    return p


def binary_hop(weight, bias, betas, tolerance, x, seed):
    """The local minimum after heat-bath sweeps in turn, and its energy; numbers are drawn only where they matter."""
    x, state = x.copy(), int(seed)

    def rise(i):
        return (1 - 2 * x[i]) * (bias[i] + weight[i] @ x)

    for beta in betas:
        for i in range(len(x)):
            if beta * rise(i) < 36:
                state, uniform = splitmix(state)
                if uniform < 1.0 / (1.0 + math.exp(beta * rise(i))):
                    x[i] = 1 - x[i]
    falling = True
    while falling:
        falling = False
        for i in range(len(x)):
            if rise(i) < -tolerance:
                x[i], falling = 1 - x[i], True
    return x, bias @ x + 0.5 * x @ weight @ x


def binary_bound(weight, bias, p):
    """Entropy minus expected cost of one product distribution."""
    total = 0.0
    for i, x in enumerate(p):
        total -= x * bias[i]
        total -= sum(y * math.log(y) for y in (x, 1 - x) if y > 0)
        total -= sum(weight[i, j] * x * p[j] for j in range(i))
    return total


# ---------------------------------------------------------------- kernels.counts, kernels.windows, kernels.coloring


def choices(allowed, member, label):
    """How many members must have their labels, and how many may have them or others."""
    sets = [set(np.flatnonzero(allowed[i]).tolist()) for i in member]
    can = [some for some, l in zip(sets, label, strict=True) if int(l) in some]
    return sum(len(some) == 1 for some in can), sum(len(some) > 1 for some in can)


def votes(q, member, label):
    """How many members certainly have their labels, and the probabilities of those that may or may not."""
    p = [float(q[i, l]) for i, l in zip(member, label, strict=True)]
    return p.count(1.0), [x for x in p if 0.0 < x < 1.0]


def running_sums(values):
    """Sums of the rows up to each."""
    return np.stack([values[: k + 1].sum(0) for k in range(len(values))])


def count_distribution(p):
    """Probability of each count, by enumeration of all votes."""
    out = np.zeros(len(p) + 1)
    for votes in itertools.product([0, 1], repeat=len(p)):
        out[sum(votes)] += math.prod(x if vote else 1 - x for x, vote in zip(p, votes, strict=True))
    return out


def color(neighbours):
    """Each vertex takes the lowest colour that no neighbour before it has."""
    colors = []
    for i, around in enumerate(neighbours):
        taken = {colors[j] for j in around if j < i}
        colors.append(next(c for c in itertools.count() if c not in taken))
    return colors


# ---------------------------------------------------------------- kernels.tables


def eliminate(dims, tables):
    """Log-sum-exp over the last axis of a sum of tables, each (axes, array) with axes of the clique."""
    out = np.empty(dims[:-1])
    for x in itertools.product(*(range(d) for d in dims[:-1])):
        row = [sum(t[tuple((*x, label)[a] for a in axes)] for axes, t in tables) for label in range(dims[-1])]
        out[x] = log_sum_exp(row)
    return out


def distribute(dims, tables, log_ratio, n_messages):
    """The marginal of the last axis, and log P - message for each of the first ``n_messages`` tables."""
    marginal = np.zeros(dims[-1])
    shares = [np.zeros(t.shape) for _, t in tables[:n_messages]]
    for x in itertools.product(*(range(d) for d in dims)):
        log_p = log_ratio[x[:-1]] + sum(t[tuple(x[a] for a in axes)] for axes, t in tables)
        p = math.exp(log_p)
        marginal[x[-1]] += p
        for share, (axes, _) in zip(shares, tables, strict=False):
            share[tuple(x[a] for a in axes)] += p
    with np.errstate(divide="ignore"):
        return marginal, [np.log(s) - t for s, (_, t) in zip(shares, tables, strict=False)]


# ---------------------------------------------------------------- paths through time


def all_paths(graph, node_cost):
    """Every path of a `PathGraph` from an entry to an exit, as (cost, nodes)."""
    arcs = {
        v: [(int(graph.tail[a]), graph.arc_cost[a]) for a in range(graph.start[v], graph.start[v + 1])]
        for v in range(graph.n)
    }
    arriving = {v: [] for v in range(graph.n)}
    found = []
    for v in range(graph.n):
        ways = [(graph.entry[v], ())] + [(cost + step, nodes) for u, step in arcs[v] for cost, nodes in arriving[u]]
        arriving[v] = [(cost + node_cost[v], (*nodes, v)) for cost, nodes in ways if cost + node_cost[v] < math.inf]
        found += [(cost + graph.exit[v], nodes) for cost, nodes in arriving[v] if graph.exit[v] < math.inf]
    return found


def disjoint_paths(graph, node_cost):
    """Least cost of any set of node-disjoint paths, by trying them all."""
    paths = all_paths(graph, node_cost)

    def best(first, taken):
        least = 0.0
        for p in range(first, len(paths)):
            cost, nodes = paths[p]
            if taken.isdisjoint(nodes):
                least = min(least, cost + best(p + 1, taken | set(nodes)))
        return least

    return best(0, frozenset())


def residual_arcs(graph, node_cost, arrival, following):
    """The residual graph of a flow: (from, to, cost) between entrances (v, 0), exits (v, 1) and "ground"."""
    for v in range(graph.n):
        taken = arrival[v] != -1
        yield ((v, 1), (v, 0), -node_cost[v]) if taken else ((v, 0), (v, 1), node_cost[v])
        yield ((v, 0), "ground", -graph.entry[v]) if arrival[v] == -2 else ("ground", (v, 0), graph.entry[v])
        yield ("ground", (v, 1), -graph.exit[v]) if following[v] == -2 else ((v, 1), "ground", graph.exit[v])
        for a in range(graph.start[v], graph.start[v + 1]):
            u, step = int(graph.tail[a]), graph.arc_cost[a]
            yield ((v, 0), (u, 1), -step) if arrival[v] == a else ((u, 1), (v, 0), step)


def uncovered(boxes, empty, height, width, ignored=1.0, shares=None):
    """Probability that nobody covers each pixel: of each cell 1 - the probabilities of the heights that do.

    ``boxes`` (n, H, 4) of people of each height, or (n, 4); ``shares`` (n, H) probabilities of the heights.
    """
    image = np.ones((height, width))
    for n, a in enumerate(empty):
        sizes = np.reshape(boxes[n], (-1, 4))
        if a <= ignored:
            for y in range(height):
                for x in range(width):
                    inside = [left <= x < right and top <= y < bottom for left, top, right, bottom in sizes]
                    if all(inside):
                        image[y, x] *= a
                    elif any(inside):
                        image[y, x] *= 1.0 - (1.0 - a) * np.dot(inside, shares[n])
    return image


def silhouette_distance(image, mask, noise):
    """d of an average image A and a mask B."""
    size = image.sum() + noise * mask.size
    return (size - 2.0 * (image * mask).sum() + mask.sum()) / size


def silhouette_field(views, empty, weights, power, noise, ignored=1.0, shares=None):
    """psi of each state of each cell, relative to psi of the average; and that.  ``views`` are (boxes, mask).

    The states are nobody, and a person of each height; ``boxes`` and ``shares`` are those of `uncovered`.
    """
    heights = 1 if shares is None else np.shape(shares)[1]
    costs, total = np.zeros((len(empty), 1 + heights)), 0.0
    for (boxes, mask), weight in zip(views, weights, strict=True):
        bare = uncovered(boxes, empty, *mask.shape, ignored, shares)
        average = weight * silhouette_distance(1.0 - bare, mask, noise) ** power
        total += average
        for n in range(len(empty)):
            sizes = np.reshape(boxes[n], (-1, 4))
            own = uncovered(
                boxes[n : n + 1], empty[n : n + 1], *mask.shape, 1.0, None if shares is None else shares[n:]
            )
            if sizes[0, 2] > sizes[0, 0]:
                for label in range(1 + heights):
                    others = bare / own
                    if label > 0:
                        left, top, right, bottom = sizes[label - 1]
                        others[top:bottom, left:right] = 0.0
                    costs[n, label] += weight * silhouette_distance(1.0 - others, mask, noise) ** power - average
    return costs, total


def silhouette_ascend(views, empty, extra, temperature, damping, tolerance, patience, limit, **model):
    """POM's iteration, as written: the probabilities of empty cells, and the updates made."""
    empty, stable, made = list(empty), 0, 0
    while made < limit and stable < patience:
        costs, _ = silhouette_field(views, empty, **model)
        new = []
        for n, a in enumerate(empty):
            logit = (costs[n, 0] - costs[n, 1] + extra[n][0] - extra[n][1]) / temperature
            new.append(damping * a + (1.0 - damping) / (1.0 + math.exp(min(logit, 700.0))))
        change = max(abs(b - a) for a, b in zip(empty, new, strict=True))
        empty, made = new, made + 1
        stable = stable + 1 if change < tolerance else 0
    return empty, made


# ---------------------------------------------------------------- dense CRFs


def gaussian_kernel(features, normalization):
    """(n, n) kernel of features (n, d), normalised: the sum that lattices approximate, the pixel itself included."""
    square = (features**2).sum(1)
    kernel = np.exp(np.minimum(features @ features.T - 0.5 * square[:, None] - 0.5 * square, 0.0))
    sums = kernel.sum(1)
    before = {"none": 1.0, "before": 1.0 / sums, "after": 1.0, "symmetric": sums**-0.5}[normalization]
    after = {"none": 1.0, "before": 1.0, "after": 1.0 / sums, "symmetric": sums**-0.5}[normalization]
    return kernel * before * np.reshape(after, (-1, 1))


def dense_updates(unary, kernels, n_updates):
    """Parallel mean field of costs (n, L) and pairs (kernel (n, n), costs (L, L)), started without the kernels."""
    field = unary.astype(np.float64)
    for update in range(n_updates + 1):
        q = np.exp(field.min(1, keepdims=True) - field)
        q /= q.sum(1, keepdims=True)
        if update < n_updates:
            field = unary + sum(kernel @ q @ costs.T for kernel, costs in kernels)
    return q


def positions(shape):
    """(n, axes) indices of a grid."""
    return np.array(list(itertools.product(*(range(size) for size in shape))), float)


# ---------------------------------------------------------------- kernels.clusters


def clustered_ascent(counts, factors, clusters, q, rounds):
    """Mean field over clusters after some rounds: a joint table of each cluster, and the bound after every round."""
    energy = np.zeros(counts)
    for x in itertools.product(*map(range, counts)):
        energy[x] = cost(factors, x)

    def over_all(cluster, table):
        shape = [counts[v] if v in cluster else 1 for v in range(len(counts))]
        return table.transpose(np.argsort(cluster)).reshape(shape)

    def product_of(tables, without=None):
        out = np.ones(counts)
        for j, (cluster, table) in enumerate(zip(clusters, tables, strict=True)):
            out = out if j == without else out * over_all(cluster, table)
        return out

    tables, bounds = [], []
    for cluster in clusters:
        rows = np.ix_(*(range(counts[v]) for v in cluster))
        tables.append(math.prod(q[v, axis] for v, axis in zip(cluster, rows, strict=True)))
    for _ in range(rounds):
        for j, cluster in enumerate(clusters):
            weights = product_of(tables, without=j)
            weighted = np.where(weights > 0, weights * np.where(weights > 0, energy, 0.0), 0.0)
            others = tuple(v for v in range(len(counts)) if v not in cluster)
            mean = weighted.sum(others).transpose(np.argsort(np.argsort(cluster)))
            tables[j] = np.exp(mean.min() - mean)
            tables[j] /= tables[j].sum()
        joint = product_of(tables)
        used = joint > 0
        bounds.append(float((joint[used] * (-energy[used] - np.log(joint[used]))).sum()))
    return product_of(tables), bounds
