"""Forms that are commonly printed, and small runs that show why the library follows others."""

from verification.examples.page import Row, Section

HEAD = """
# Errata

Slides and listings of these methods carry slips that are copied on. Each is shown here by a small run: what the
commonly printed form gives, and what the library, which follows the corrected form, gives. This page is written by
`python -m verification.examples`; the tests compute it again.
"""

PREFACE = """
from functools import partial

import numpy as np
from scipy.optimize import minimize

import noregret as nr

make = partial(nr.make, native=False)  # a few rounds are sooner played than compiled
X = np.array([[4.0, 0.0], [1.0, 1.0], [0.0, 1.0], [-2.0, -2.0]])
y = np.array([1, -1, -1, 1])


def weights(learner):
    return learner.scores(np.eye(2)).T


def nearest(w, x, label, price):
    \"\"\"The w that minimises |w - w_t|^2 / 2 + price(xi) where the margin is at least 1 - xi and xi at least 0.\"\"\"
    cost = lambda v: 0.5 * (v[:2] - w) @ (v[:2] - w) + price(v[2])
    margin = {"type": "ineq", "fun": lambda v: label * v[:2] @ x - 1.0 + v[2]}
    return minimize(cost, [*w, 5.0], method="SLSQP", constraints=[margin], bounds=[(None, None)] * 2 + [(0, None)],
                    options={"ftol": 1e-14}).x[:2]  # fmt: skip
"""

GATE = Section(
    "The perceptron moves where the margin is not positive",
    """A listing has tau = 1 where the margin is positive and 0 where it is not: the two are interchanged. From zero
such a learner never moves; here it begins where the perceptron is after its first round.""",
    """
printed = X[0]
for _ in range(5):
    for x, label in zip(X, y):
        printed = printed + label * x * float(label * x @ printed > 0.0)

learner = make("perceptron")
for _ in range(5):
    learner.learn(X, y)
""",
    (
        Row("as printed: w after five passes", "printed"),
        Row("as printed: points on the right side", "int((y * (X @ printed) > 0.0).sum())"),
        Row("the library: w", "weights(learner)"),
        Row("the library: points on the right side", "int((learner.predict(X) == y).sum())"),
    ),
)

SECOND_ROUND = Section(
    "The second round of the worked perceptron",
    """The slide says that the margin of the second round is positive, and adds x3. The margin is -4, a mistake, and
it is x2 that is added.""",
    """
learner = make("perceptron")
said = learner.play(X[:2], y[:2])
""",
    (
        Row("margin of round 2", "(y[:2] * said.scores)[1]"),
        Row("as printed, w2 + y2 x3", "X[0] + y[1] * X[2]"),
        Row("the library, w2 + y2 x2", "weights(learner)"),
    ),
)

NO_HINGE = Section(
    "The perceptron is no gradient descent on max(0, 1 - m)",
    """Descent on the hinge with rate 1 also moves where the margin is between 0 and 1; the perceptron is descent on
max(0, -m), with the step at m = 0 taken.""",
    """
rows, labels = 0.25 * np.tile(X, (3, 1)), np.tile(y, 3)
perceptron = make("perceptron")
of_hinge, of_mistakes = (make("ogd", loss=loss, eta0=1.0, schedule="constant") for loss in ("hinge", "perceptron"))
moved = [learner.play(rows, labels).updated.sum() for learner in (perceptron, of_hinge, of_mistakes)]
""",
    (
        Row("updates in 12 rounds: perceptron, hinge, max(0, -m)", "moved"),
        Row("w of the perceptron", "weights(perceptron)"),
        Row("w of descent on the hinge", "weights(of_hinge)"),
        Row("w of descent on max(0, -m)", "weights(of_mistakes)"),
    ),
)

MARGIN = Section(
    "The margin of the theorem is that of a unit vector",
    """With gamma = min y u.x for any u, and not for one of length 1, 1 / gamma^2 can be made as small as one likes,
while the updates stay what they are.""",
    """
learner = make("perceptron").learn(X / 4.0, y)  # rows of length at most 1
u = np.array([0.25, -1.25])
unit = u / np.linalg.norm(u)
as_printed = [1.0 / min(y * (X / 4.0 @ (factor * u))) ** 2 for factor in (1.0, 10.0, 100.0)]
bound = nr.learners()["perceptron"].bound(radius=1.0, margin=min(y * (X / 4.0 @ unit)))
""",
    (
        Row("updates", "learner.updates"),
        Row("1 / gamma^2 with u, 10 u, 100 u", "as_printed"),
        Row("1 / gamma^2 with u / |u|", "bound"),
    ),
)

START = Section(
    "From w_0 the perceptron may make more than 1 / gamma^2 + 1 mistakes",
    """The derivation gives 1 / gamma^2 + 2 |w_0| / gamma, and needs |w_0| <= 1 to become 1 / gamma^2 + 2 / gamma.
The smaller 1 / gamma^2 + 1 is false, and a longer w_0 breaks the one in the middle, too.""",
    """
mistakes = []
for length in (1.0, 8.0):
    start = length * np.array([np.cos(np.radians(170.0)), np.sin(np.radians(170.0))])
    learner = make("perceptron").learn(start[None], [1])  # from zero, a first round that is added
    said = learner.play(np.tile([[0.6, 0.8], [0.6, -0.8]], (40, 1)), np.ones(80))
    mistakes.append(int(said.mistakes.sum()))

bound = partial(nr.learners()["perceptron"].bound, radius=1.0, margin=0.6)
assert bound() + 1.0 < mistakes[0] <= bound(initial_norm=1.0) < mistakes[1] <= bound(initial_norm=8.0)
""",
    (
        Row("mistakes from |w_0| = 1", "mistakes[0]"),
        Row("1 / gamma^2 + 1", "bound() + 1.0"),
        Row("1 / gamma^2 + 2 / gamma", "bound(initial_norm=1.0)"),
        Row("mistakes from |w_0| = 8", "mistakes[1]"),
        Row("1 / gamma^2 + 16 / gamma", "bound(initial_norm=8.0)"),
    ),
)

ZERO = Section(
    "A score of zero",
    """Slides leave the prediction at zero open, and some listings update only where the margin is negative. From
weights of zero every margin is zero, so such a learner never moves; it is refused unless it begins elsewhere.
Here zero predicts +1, and is an update.""",
    """
learner = make("perceptron")
said = learner.play(X[:1], y[:1])
try:
    make("perceptron", strict=True)
except nr.BadValue as error:
    refused = str(error)
elsewhere = make("perceptron", strict=True, random_start=1.0).play(np.tile(X, (50, 1)), np.tile(y, 50))
""",
    (
        Row("prediction at zero", "said.predictions[0]"),
        Row("is an update", "bool(said.updated[0])"),
        Row("strict, from zero", "refused"),
        Row("strict, from random weights: mistakes of the last pass", "int(elsewhere.mistakes[-4:].sum())"),
    ),
)

PA2 = Section(
    "The denominator of PA-II is |x|^2 + 1 / (2 C)",
    """A slide has |x|^2 + C. The step is held against a solver of the problem that defines it: |w - w_t|^2 / 2 + C
xi^2, where the margin is at least 1 - xi.""",
    """
C, x = 0.1, np.array([1.0, 2.0])
learner = make("pa2", C=C).learn(np.array([[1.2, -1.6]]), [1])
start = weights(learner)
learner.learn(x[None], [-1])
solver = nearest(start, x, -1, lambda xi: C * xi * xi)
as_printed = start - (1.0 + start @ x) / (x @ x + C) * x
assert np.allclose(weights(learner), solver, atol=1e-6) and not np.allclose(as_printed, solver, atol=1e-2)
""",
    (
        Row("the solver", "np.round(solver, 4)"),
        Row("the library", "weights(learner)"),
        Row("as printed", "as_printed"),
    ),
)

SOFT = Section(
    "min(C, .) belongs to C xi, not to C xi^2",
    "A slide shows the price C xi^2 beside the rule min(C, loss / |x|^2), which solves the problem with C xi.",
    """
C, x = 0.1, np.array([0.5, -1.0])
linear = nearest(np.zeros(2), x, 1, lambda xi: C * xi)
squared = nearest(np.zeros(2), x, 1, lambda xi: C * xi * xi)
pa1, pa2 = (weights(make(name, C=C).learn(x[None], [1])) for name in ("pa1", "pa2"))
assert np.allclose(pa1, linear, atol=1e-6) and np.allclose(pa2, squared, atol=1e-6)
""",
    (
        Row("the solver, with C xi", "np.round(linear, 4)"),
        Row("PA-I, with min(C, .)", "pa1"),
        Row("the solver, with C xi^2", "np.round(squared, 4)"),
        Row("PA-II", "pa2"),
    ),
)

PA_GATE = Section(
    "Passive-aggressive learners move wherever there is a loss",
    """A listing updates only where the sign is wrong, and another text has the minimum at x_t where there is no
loss: it is w_t. Moving on mistakes alone is offered as a choice, `gate="mistake"`.""",
    """
learner, gated = make("pa"), make("pa", gate="mistake")
said, less = learner.play(X, y), gated.play(X, y)
before = weights(learner)
quiet = learner.play(np.array([[-2.0, -2.0]]), [1])
""",
    (
        Row("margins", "y * said.scores"),
        Row("losses", "said.losses"),
        Row("updates, by loss", "said.updated.tolist()"),
        Row("updates, by mistake only", "less.updated.tolist()"),
        Row("loss of one more round, and how far w went", "(quiet.losses[0], np.abs(weights(learner) - before).max())"),
    ),
)

MULTICLASS = Section(
    "The loss of many classes is max(0, 1 - margin)",
    "A slide writes the constraint as l = margin >= 1. The margin is that of the label over its best rival.",
    """
rows, labels = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0], [1.0, 1.0]]), np.array([0, 1, 2, 0])
said = make("pa", task="multiclass", classes=[0, 1, 2]).play(rows, labels)
own = said.scores[np.arange(4), labels]
rival = np.where(np.eye(3, dtype=bool)[labels], -np.inf, said.scores).max(axis=1)
assert np.allclose(said.losses, np.maximum(0.0, 1.0 - (own - rival)))
""",
    (
        Row("margins", "own - rival"),
        Row("losses", "said.losses"),
    ),
)

NORMAL = Section(
    "The normal distribution has exp(-t^2 / 2)",
    """With exp(-t^2) under the same root of 2 pi the whole is not 1, and no confidence means what it says. After an
update CW is right on its round with probability eta.""",
    """
t = np.linspace(-12.0, 12.0, 200_001)
as_printed, corrected = (np.trapezoid(np.exp(-t * t / by), t) / np.sqrt(2.0 * np.pi) for by in (1.0, 2.0))
cw = make("cw", eta=0.9, covariance="full").learn(X[:2], y[:2])
sure = cw.confidence(X[1:2], y[1:2])[0]
""",
    (
        Row("the whole, as printed", "as_printed"),
        Row("the whole, corrected", "corrected"),
        Row("confidence of the round CW has just learned, eta = 0.9", "sure"),
    ),
)

KL = Section(
    "CW stays near N(mu_i, Sigma_i)",
    """A slide has the divergence from N(mu, Sigma) to N(mu, Sigma_i): the mean is on both sides, and moving it costs
nothing. Then the variance would stay as it is and the mean go anywhere.""",
    """
def divergence(mu, sigma, centre):
    gap = centre - mu  # to N(centre, I)
    return 0.5 * (np.trace(sigma) + gap @ gap - 2.0 - np.log(np.linalg.det(sigma)))


far = np.array([100.0, 0.0])
cw = make("cw", eta=0.9, covariance="full").learn(X[:1], y[:1])
S = np.tril(cw.model.arrays.sigma.S[0])
sigma = S + np.tril(S, -1).T
""",
    (
        Row("as printed: of a mean 100 away, nothing else changed", "divergence(far, np.eye(2), far)"),
        Row("corrected: of the same", "divergence(far, np.eye(2), np.zeros(2))"),
        Row("corrected: of the step CW takes", "divergence(weights(cw), sigma, np.zeros(2))"),
    ),
)

EG = Section(
    "Who the exponentiated gradient is from",
    "A slide credits it to Littlestone and Warmuth, whose is the weighted majority.",
    """
paper = nr.learners()["eg"].paper
""",
    (Row("the card of eg", "paper"),),
)

PROMOTIONS = Section(
    "Winnow promotes at most k ceil(log2 n) times",
    "A slide has fewer than k log n. One variable of 1024, seen alone, is promoted exactly ten times.",
    """
n = 1024
winnow = make("winnow", theta=n)
winnow.learn(np.eye(n)[[0] * 20], np.ones(20))
""",
    (
        Row("promotions", "winnow.updates"),
        Row("k log2 n", "np.log2(n)"),
    ),
)

DEMOTION = Section(
    "A demotion takes at least n / 2 from the sum",
    "A slide has more than n / 2. A false alarm whose sum is exactly the threshold loses exactly half of it.",
    """
n = 8
winnow = make("winnow", theta=n)
before = winnow.play(np.ones((1, n)), [-1]).scores[0] + n
after = winnow.scores(np.ones((1, n)))[0] + n
""",
    (
        Row("the sum of all weights before and after", "(before, after)"),
        Row("what was taken, and n / 2", "(before - after, n / 2)"),
    ),
)

BALANCED = Section(
    "Balanced Winnow at its threshold",
    """Tests with <= theta and >= theta both hold at equality. Here a sum of exactly theta is positive, less is
negative.""",
    """
balanced = make("winnow_balanced", theta=1.0)
said = balanced.play(np.array([[1.0], [1.0]]), [1, -1])  # w+ - w- is 2 - 1
""",
    (
        Row("prediction at a sum of exactly theta", "said.predictions[0]"),
        Row("updates: the positive one is right, the negative one is not", "said.updated.tolist()"),
    ),
)

REDUCTION = Section(
    "A batch step says whether it takes the sum or the mean",
    """A slide states the objective as a mean over N and steps by a sum over n. The two differ by the size of the
batch, and so does the largest rate that converges.""",
    """
batch = partial(make, "gradient_batch", loss="squared", batch=4)
by_mean, by_sum = batch(eta=0.1, reduction="mean").learn(X, y), batch(eta=0.1, reduction="sum").learn(X, y)
same = batch(eta=0.1 / 4, reduction="sum").learn(X, y)
assert np.allclose(weights(by_mean), weights(same))
""",
    (
        Row("w after one batch of 4, the mean", "weights(by_mean)"),
        Row("the sum", "weights(by_sum)"),
        Row("the sum with a quarter of the rate", "weights(same)"),
    ),
)

REGRET = Section(
    "Online gradient descent makes the average regret vanish",
    """It is said to minimise the regret R. The sum of the regrets may well grow, like the root of T; what vanishes
is R / T. Here noisy labels, against the best of a grid of weights, and Zinkevich's rates on a ball of radius
1.""",
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
    """A slide has the mean of the losses f_i(w_i). It is that of their subgradients, g_i = -y x where there is a
loss.""",
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
        Row("what the library keeps", "kept"),
    ),
)

SHRINK = Section(
    "T1 needs to be told by how much",
    """A slide writes the truncation as T1(v, theta). It is T1(v, alpha, theta): weights up to theta go toward zero
by alpha, which is the rate times the gravity, and no further.""",
    """
after = [
    weights(make("truncated_gradient", eta0=0.1, schedule="constant", gravity=gravity).learn(X[:1], y[:1]))
    for gravity in (0.0, 1.0, 10.0)
]
""",
    (Row("w after one round with gravity 0, 1 and 10", "after"),),
)

SECTIONS = (
    GATE,
    SECOND_ROUND,
    NO_HINGE,
    MARGIN,
    START,
    ZERO,
    PA2,
    SOFT,
    PA_GATE,
    MULTICLASS,
    NORMAL,
    KL,
    EG,
    PROMOTIONS,
    DEMOTION,
    BALANCED,
    REDUCTION,
    REGRET,
    MEAN_GRADIENT,
    SHRINK,
)

LEFT_OUT = (
    (
        "halving leaves fewer than half of the concepts; the logarithm of 3^n is n; elimination makes n "
        "mistakes; the number of k-disjunctions",
        "learners of concept classes are not part of the library",
    ),
    (
        "the tau of many classes uses 1 where the constraint asks for the cost of the confusion",
        "margins that depend on the confusion are not part of the library",
    ),
    (
        "the indices of backpropagation; how the factors of a growing SVD are extended, and what that costs",
        "networks and decompositions are not part of the library",
    ),
    (
        "the truncated-gradient theorem with signs and factors lost",
        "as printed it cannot be evaluated; as corrected it is on the card of `truncated_gradient`, and tested",
    ),
    (
        "O(ln T / T) where h is strongly convex, and not the penalty",
        "a condition of a proof; it is on the card of `rda_strongly_convex`, whose bound is tested",
    ),
    (
        "eta_i for y_i, a sum for an inner product, indices off by one, names and years",
        "slips of the pen, with nothing to compute",
    ),
)

TAIL = "\n".join(
    ["## Left out", "", "| what is printed | why it is not shown here |", "|---|---|"]
    + [f"| {what} | {why} |" for what, why in LEFT_OUT]
)
