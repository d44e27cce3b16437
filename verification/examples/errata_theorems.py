"""Errors in commonly printed theorems and sparse updates, each shown by a small run."""

from verification.examples.page import Row, Section

REGRET = Section(
    "Online gradient descent makes the average regret vanish",
    """Printed: it minimises the regret R. The regret may grow, like the square root of T; it is R / T that vanishes.
This run has noisy labels, Zinkevich's learning rates on a ball of radius 1, and the best of a grid of weights as
comparator.""",
    """
rng = np.random.default_rng(0)
rows = rng.normal(size=(1600, 2))
rows /= np.maximum(1.0, np.linalg.norm(rows, axis=1, keepdims=True))
labels = np.where(rows @ [1.0, -1.0] + 0.8 * rng.normal(size=1600) > 0.0, 1, -1)
said = make("ogd", eta0=2.0, onto="ball", radius=1.0).play(rows, labels)

grid = [r * np.array([np.cos(a), np.sin(a)]) for r in np.linspace(0.0, 1.0, 21) for a in np.linspace(0.0, 6.28, 63)]
losses = np.maximum(0.0, 1.0 - labels[:, None] * (rows @ np.array(grid).T))
regret = [said.losses[:T].sum() - losses[:T].sum(axis=0).min() for T in (100, 400, 1600)]
average = [one / T for one, T in zip(regret, (100, 400, 1600))]
assert average[0] > average[1] > average[2]
""",
    (
        Row("R after 100, 400 and 1600 rounds", "[round(one, 3) for one in regret]"),
        Row("R / T", "[round(one, 4) for one in average]"),
    ),
)

MEAN_GRADIENT = Section(
    "Dual averaging keeps the mean of subgradients",
    """Printed: the mean of the losses f_i(w_i). It is the mean of their subgradients, g_i = -y x where the loss is
positive.""",
    """
rows, labels = np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 2.0]]), np.array([1, -1, 1])
rda = make("rda", lam=0.1, gamma=1.0)
said = rda.play(rows, labels)
subgradients = np.where(said.losses[:, None] > 0.0, -labels[:, None] * rows, 0.0)
kept = rda.model.arrays.G / 3
assert np.allclose(kept, subgradients.mean(axis=0))
""",
    (
        Row("mean of the losses", "said.losses.mean()"),
        Row("mean of the subgradients", "subgradients.mean(axis=0)"),
        Row("what the library stores", "kept"),
    ),
)

SHRINK = Section(
    "Truncation has three arguments",
    """Printed: T1(v, theta). It is T1(v, alpha, theta): weights of absolute value up to theta move toward zero by at
most alpha, the learning rate times the gravity.""",
    """
after = [
    weights(make("truncated_gradient", eta0=0.1, schedule="constant", gravity=gravity).learn(X[:1], y[:1]))
    for gravity in (0.0, 1.0, 10.0)
]
""",
    (Row("w after one round with gravity 0, 1 and 10", "after"),),
)
