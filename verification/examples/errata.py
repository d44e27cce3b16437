"""Errors in commonly printed formulas, each shown by a small run."""

from verification.examples.errata_concepts import CONCEPTS
from verification.examples.errata_costs import COSTS as COSTS
from verification.examples.errata_theorems import MEAN_GRADIENT, REGRET, SHRINK
from verification.examples.page import Row, Section

HEAD = """
# Errata

Slides and textbooks repeat some errors about these methods. Each section shows one by a small run: the result of the
printed formula, and that of the corrected one, which the library uses. `python -m verification.examples` writes this
page; the tests compute it again.
"""

PREFACE = """
from functools import partial

import numpy as np
from scipy.optimize import minimize

import noregret as nr

make = partial(nr.make, native=False)  # for a few rounds, plain Python is faster than compiling
X = np.array([[4.0, 0.0], [1.0, 1.0], [0.0, 1.0], [-2.0, -2.0]])
y = np.array([1, -1, -1, 1])


def weights(learner):
    return learner.scores(np.eye(2)).T


def nearest(w, x, label, price):
    \"\"\"Minimise |w - w_t|^2 / 2 + price(xi) subject to margin >= 1 - xi and xi >= 0.\"\"\"
    cost = lambda v: 0.5 * (v[:2] - w) @ (v[:2] - w) + price(v[2])
    margin = {"type": "ineq", "fun": lambda v: label * v[:2] @ x - 1.0 + v[2]}
    return minimize(cost, [*w, 5.0], method="SLSQP", constraints=[margin], bounds=[(None, None)] * 2 + [(0, None)],
                    options={"ftol": 1e-14}).x[:2]  # fmt: skip
"""

GATE = Section(
    "The perceptron updates where the margin is not positive",
    """Printed: tau = 1 where the margin is positive, and 0 otherwise. The two cases are interchanged. From zero
weights such a learner never updates, so this run starts with the weights of the perceptron after its first
round.""",
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
        Row("as printed: points classified correctly", "int((y * (X @ printed) > 0.0).sum())"),
        Row("the library: w", "weights(learner)"),
        Row("the library: points classified correctly", "int((learner.predict(X) == y).sum())"),
    ),
)

SECOND_ROUND = Section(
    "The second round of the worked perceptron",
    """Printed: the margin of the second round is positive, and x3 is added. In fact the margin is -4, which is a
mistake, and x2 is added.""",
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
    "The perceptron is not gradient descent on max(0, 1 - m)",
    """Gradient descent on the hinge loss with rate 1 also updates where the margin m is between 0 and 1. The
perceptron is gradient descent on max(0, -m), with an update also at m = 0.""",
    """
rows, labels = 0.25 * np.tile(X, (3, 1)), np.tile(y, 3)
perceptron = make("perceptron")
of_hinge, of_mistakes = (make("ogd", loss=loss, eta0=1.0, schedule="constant") for loss in ("hinge", "perceptron"))
moved = [learner.play(rows, labels).updated.sum() for learner in (perceptron, of_hinge, of_mistakes)]
""",
    (
        Row("updates in 12 rounds: perceptron, hinge loss, max(0, -m)", "moved"),
        Row("w of the perceptron", "weights(perceptron)"),
        Row("w of gradient descent on the hinge loss", "weights(of_hinge)"),
        Row("w of gradient descent on max(0, -m)", "weights(of_mistakes)"),
    ),
)

MARGIN = Section(
    "The margin of the theorem is that of a unit vector",
    """Printed: gamma = min y u.x for any u. Then a longer u makes 1 / gamma^2 arbitrarily small, while the number of
updates stays the same. The theorem needs |u| = 1.""",
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
    "Initial weights w_0 may cost more than 1 / gamma^2 + 1 mistakes",
    """Printed: at most 1 / gamma^2 + 1 mistakes. The derivation gives 1 / gamma^2 + 2 |w_0| / gamma, which is 1 /
gamma^2 + 2 / gamma only if |w_0| <= 1.""",
    """
mistakes = []
for length in (1.0, 8.0):
    start = length * np.array([np.cos(np.radians(170.0)), np.sin(np.radians(170.0))])
    learner = make("perceptron").learn(start[None], [1])  # a first round sets the initial weights
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
    """The prediction at a score of zero is often left open, and some listings update only where the margin is
negative. From zero weights every margin is zero, so such a learner never updates; the library refuses it unless it
starts with other weights. In the library a score of zero predicts +1 and causes an update.""",
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
        Row("strict=True, from zero weights", "refused"),
        Row("strict=True, from random weights: mistakes in the last pass", "int(elsewhere.mistakes[-4:].sum())"),
    ),
)

PA2 = Section(
    "The denominator of PA-II is |x|^2 + 1 / (2 C)",
    """Printed: |x|^2 + C. The step is compared with a numerical solution of the defining problem: minimise |w - w_t|^2
/ 2 + C xi^2 where the margin is at least 1 - xi.""",
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
        Row("numerical solution", "np.round(solver, 4)"),
        Row("the library", "weights(learner)"),
        Row("as printed", "as_printed"),
    ),
)

SOFT = Section(
    "min(C, .) belongs to the penalty C xi, not to C xi^2",
    "Printed: the penalty C xi^2 together with the step min(C, loss / |x|^2), which solves the problem with C xi.",
    """
C, x = 0.1, np.array([0.5, -1.0])
linear = nearest(np.zeros(2), x, 1, lambda xi: C * xi)
squared = nearest(np.zeros(2), x, 1, lambda xi: C * xi * xi)
pa1, pa2 = (weights(make(name, C=C).learn(x[None], [1])) for name in ("pa1", "pa2"))
assert np.allclose(pa1, linear, atol=1e-6) and np.allclose(pa2, squared, atol=1e-6)
""",
    (
        Row("numerical solution with C xi", "np.round(linear, 4)"),
        Row("PA-I, the step min(C, .)", "pa1"),
        Row("numerical solution with C xi^2", "np.round(squared, 4)"),
        Row("PA-II", "pa2"),
    ),
)

PA_GATE = Section(
    "Passive-aggressive learners update wherever the loss is positive",
    """Printed: an update only on mistakes; and elsewhere, that the minimum is x_t where the loss is zero (it is w_t).
Updating only on mistakes is available as the option `gate="mistake"`.""",
    """
learner, gated = make("pa"), make("pa", gate="mistake")
said, less = learner.play(X, y), gated.play(X, y)
before = weights(learner)
quiet = learner.play(np.array([[-2.0, -2.0]]), [1])
""",
    (
        Row("margins", "y * said.scores"),
        Row("losses", "said.losses"),
        Row("updates", "said.updated.tolist()"),
        Row('updates with gate="mistake"', "less.updated.tolist()"),
        Row(
            "loss of one more round, and the largest change of w",
            "(quiet.losses[0], np.abs(weights(learner) - before).max())",
        ),
    ),
)

MULTICLASS = Section(
    "The multiclass loss is max(0, 1 - margin)",
    "Printed: l = margin >= 1. The margin is the score of the correct class minus that of its best rival.",
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
    """Printed: exp(-t^2) with the factor 1 / sqrt(2 pi). Its integral is not 1, so it gives wrong confidences. After
an update, CW classifies its round correctly with probability eta.""",
    """
t = np.linspace(-12.0, 12.0, 200_001)
as_printed, corrected = (np.trapezoid(np.exp(-t * t / by), t) / np.sqrt(2.0 * np.pi) for by in (1.0, 2.0))
cw = make("cw", eta=0.9, covariance="full").learn(X[:2], y[:2])
sure = cw.confidence(X[1:2], y[1:2])[0]
""",
    (
        Row("the integral, as printed", "as_printed"),
        Row("the integral, corrected", "corrected"),
        Row("confidence of the round that CW has just learned, eta = 0.9", "sure"),
    ),
)

KL = Section(
    "CW minimises the divergence to N(mu_i, Sigma_i)",
    """Printed: the divergence between N(mu, Sigma) and N(mu, Sigma_i). With the same mean on both sides, moving the
mean costs nothing.""",
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
        Row("as printed: for a mean at distance 100, same covariance", "divergence(far, np.eye(2), far)"),
        Row("corrected: for the same", "divergence(far, np.eye(2), np.zeros(2))"),
        Row("corrected: for the step of CW", "divergence(weights(cw), sigma, np.zeros(2))"),
    ),
)

EG = Section(
    "The authors of the exponentiated gradient",
    "Printed: Littlestone and Warmuth, who are the authors of weighted majority.",
    """
paper = nr.learners()["eg"].paper
""",
    (Row("the card of eg", "paper"),),
)

PROMOTIONS = Section(
    "Winnow promotes at most k ceil(log2 n) times",
    "Printed: fewer than k log n. If only one of 1024 variables is on, it is promoted exactly ten times.",
    """
n = 1024
winnow = make("winnow", alpha=2.0, theta=n)
winnow.learn(np.eye(n)[[0] * 20], np.ones(20))
""",
    (
        Row("promotions", "winnow.updates"),
        Row("k log2 n", "np.log2(n)"),
    ),
)

DEMOTION = Section(
    "A demotion reduces the sum of the weights by at least n / 2",
    "Printed: by more than n / 2. A false positive whose sum equals the threshold reduces it by exactly n / 2.",
    """
n = 8
winnow = make("winnow", alpha=2.0, theta=n)
before = winnow.play(np.ones((1, n)), [-1]).scores[0] + n
after = winnow.scores(np.ones((1, n)))[0] + n
""",
    (
        Row("the sum of all weights before and after", "(before, after)"),
        Row("the reduction, and n / 2", "(before - after, n / 2)"),
    ),
)

BALANCED = Section(
    "Balanced Winnow at its threshold",
    """Printed: negative if the sum is <= theta, positive if it is >= theta. Both hold at equality. In the library a
sum of exactly theta predicts positive.""",
    """
balanced = make("winnow_balanced", alpha=2.0, theta=1.0, start=2.0)
said = balanced.play(np.array([[1.0], [1.0]]), [1, -1])  # w+ - w- is 2 - 1
""",
    (
        Row("prediction at a sum of exactly theta", "said.predictions[0]"),
        Row("updates on a positive, then a negative example at theta", "said.updated.tolist()"),
    ),
)

REDUCTION = Section(
    "A batch step must say whether it uses the sum or the mean",
    """Printed: the objective is a mean over N, but the step a sum over n. The two differ by the batch size, and so
does the largest learning rate that converges.""",
    """
batch = partial(make, "gradient_batch", loss="squared", batch=4)
by_mean, by_sum = batch(eta=0.1, reduction="mean").learn(X, y), batch(eta=0.1, reduction="sum").learn(X, y)
same = batch(eta=0.1 / 4, reduction="sum").learn(X, y)
assert np.allclose(weights(by_mean), weights(same))
""",
    (
        Row("w after one batch of 4, with the mean", "weights(by_mean)"),
        Row("with the sum", "weights(by_sum)"),
        Row("with the sum and a quarter of the rate", "weights(same)"),
    ),
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
    COSTS,
    NORMAL,
    KL,
    EG,
    PROMOTIONS,
    DEMOTION,
    BALANCED,
    *CONCEPTS,
    REDUCTION,
    REGRET,
    MEAN_GRADIENT,
    SHRINK,
)
