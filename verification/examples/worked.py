"""Examples that textbooks and lectures work out by hand, computed by the library."""

from verification.examples import worked_concepts, worked_kernels, worked_mistakes
from verification.examples.page import Row, Section

HEAD = """
# Worked examples

Small examples that lectures and textbooks work out by hand: the printed numbers beside those that the library computes.
`python -m verification.examples` writes this page; the tests compute it again and compare every number, to six digits.
"""

PREFACE = """
from functools import partial

import numpy as np

import noregret as nr

make = partial(nr.make, native=False)  # for a few rounds, plain Python is faster than compiling
X = np.array([[4.0, 0.0], [1.0, 1.0], [0.0, 1.0], [-2.0, -2.0]])
y = np.array([1, -1, -1, 1])


def weights(learner):
    return learner.scores(np.eye(2)).T


def path(learner, X=X, y=y):
    return [weights(learner.learn(X[t : t + 1], y[t : t + 1])) for t in range(len(y))]


def variances(learner):
    S = learner.model.arrays.sigma.S[0]
    return S[0, 0], S[1, 0], S[1, 1]  # only the lower triangle of a full covariance is stored


def gaussians(learner):
    return [(*weights(learner.learn(X[t : t + 1], y[t : t + 1])), *variances(learner)) for t in range(4)]
"""

PERCEPTRON = Section(
    "The perceptron on four points",
    """Four points in the plane, one pass, from zero weights. A score of zero predicts +1 and causes an update; on a
positive example it is therefore an update without a mistake. The second pass makes no update.""",
    """
perceptron = make("perceptron")
said = perceptron.play(X, y)
again = perceptron.play(X, y)
every = path(make("perceptron"))

vectors, votes = np.unique([[0.0, 0.0], *every], axis=0, return_counts=True)
averaged = make("perceptron_averaged").learn(X, y)
kernel = make("perceptron", algebra="kernel", kernel="linear")
u = weights(make("romma").learn(X, y))  # the shortest weights with margin 1, see below
gamma = min(y * (X @ u)) / np.linalg.norm(u)
bound = nr.learners()["perceptron"].bound(radius=4.0, margin=gamma)

try:
    make("perceptron", strict=True)
except nr.BadValue as error:
    refused = str(error)
""",
    (
        Row("margins y w.x", "y * said.scores", (0, -4, 1, -4)),
        Row("updates", "said.updated.tolist()", (True, True, False, True)),
        Row("mistakes", "said.mistakes.tolist()", (False, True, False, True)),
        Row("w after each round", "every", ((4, 0), (3, -1), (3, -1), (1, -3))),
        Row("updates of the second pass", "again.updated.sum()", 0),
        Row("geometric margin of the best separator", "gamma", 0.784465),
        Row("bound on the updates, R^2 / gamma^2", "bound", 26),
        Row("updates", "perceptron.updates", 3),
        Row(
            "strict=True from zero weights would never update, and is refused",
            "'never leaves weights of zero' in refused",
            True,
        ),
        Row("the weight vectors that vote", "vectors", ((0, 0), (1, -3), (3, -1), (4, 0))),
        Row("votes of each", "votes", (1, 1, 2, 1)),
        Row("sum of c_i w_i (votes times weight vectors)", "5 * weights(averaged)", (11, -5)),
        Row("the average, including the zero vector", "weights(averaged)", (2.2, -1.0)),
        Row("the mean of the weight vectors after each round", "np.mean(every, axis=0)", (2.75, -1.25)),
        Row("how often each point was added", "kernel.play(X, y).updated.astype(int)", (1, 1, 0, 1)),
    ),
)

FIRST_ORDER = Section(
    "Other learners on the same points",
    "Losses and weights after each round. ROMMA finds the separator with the largest margin.",
    """
pa, pa1, pa2 = make("pa"), make("pa1", C=0.1), make("pa2", C=0.1)
adaline = make("adaline", rho=0.1)
losses = {"pa": make("pa").play(X, y).losses}
losses["pa1"] = make("pa1", C=0.1).play(X, y).losses
losses["pa2"] = make("pa2", C=0.1).play(X, y).losses
""",
    (
        Row("PA: losses", "losses['pa']", (1, 1.25, 0.375, 0)),
        Row("PA: w", "path(pa)", ((0.25, 0), (-0.375, -0.625), (-0.375, -1), (-0.375, -1))),
        Row("PA-I, C = 0.1: losses", "losses['pa1']", (1, 1.25, 0.9, 0.9)),
        Row("PA-I: w", "path(pa1)", ((0.25, 0), (0.15, -0.1), (0.15, -0.2), (-0.05, -0.4))),
        Row("PA-II, C = 0.1: losses", "losses['pa2']", (1, 1.190476, 0.829932, 0.424036)),
        Row(
            "PA-II: w",
            "path(pa2)",
            ((0.190476, 0), (0.020408, -0.170068), (0.020408, -0.30839), (-0.044828, -0.373626)),
        ),
        Row("ROMMA: w", "path(make('romma'))", ((0.25, 0), (0.25, -1.25), (0.25, -1.25), (0.25, -1.25))),
        Row(
            "aggressive ROMMA: w",
            "path(make('romma_aggressive'))",
            ((0.25, 0), (0.25, -1.25), (0.25, -1.25), (0.25, -1.25)),
        ),
        Row("Adaline, rho = 0.1: w", "path(adaline)", ((0.4, 0), (0.26, -0.14), (0.26, -0.226), (0.0464, -0.4396))),
    ),
)

SECOND_ORDER = Section(
    "Second-order learners on the same points",
    "Full covariance from the identity. After each round: the two weights, then S11, S12 and S22.",
    """
full = partial(make, covariance="full")
sop = full("sop")
sop_scores = sop.play(X, y).scores
""",
    (
        Row("SOP: scores", "sop_scores", (0, 0.114286, -0.396226, 0.261682)),
        Row("SOP: the sum v", "sop.model.arrays.v", (3, -1)),
        Row("SOP: S11, S12, S22, the inverse of ((18, 1), (1, 2))", "variances(sop)", (2 / 35, -1 / 35, 18 / 35)),
        Row(
            "AROW, r = 1",
            "gaussians(full('arow'))",
            (
                (0.235294, 0, 0.058824, 0, 1),
                (0.2, -0.6, 0.057143, -0.028571, 0.514286),
                (0.207547, -0.735849, 0.056604, -0.018868, 0.339623),
                (0.207547, -0.735849, 0.056604, -0.018868, 0.339623),
            ),
        ),
        Row(
            "NHERD, C = 1",
            "gaussians(full('nherd', C=1.0))",
            (
                (0.235294, 0, 0.00346, 0, 1),
                (0.233161, -0.61658, 0.003451, -0.002589, 0.251726),
                (0.233954, -0.693687, 0.003442, -0.001653, 0.160661),
                (0.233778, -0.709273, 0.003429, -0.002766, 0.061657),
            ),
        ),
        Row(
            "CW, eta = 0.9",
            "gaussians(full('cw', eta=0.9))",
            ((0.788386, 0, 0.378448, 0, 1), *[(0.376326, -1.088816, 0.297844, -0.212985, 0.437215)] * 3),
        ),
        Row(
            "SCW-I, eta = 0.9, C = 0.1",
            "gaussians(full('scw1', eta=0.9, C=0.1, floor=1e-12))",
            (
                (0.4, 0, 0.602199, 0, 1),
                (0.33978, -0.1, 0.56834, -0.056225, 0.906633),
                (0.345403, -0.190663, 0.56794, -0.04977, 0.802545),
                (0.241769, -0.341218, 0.515081, -0.126561, 0.690986),
            ),
        ),
        Row(
            "SCW-II, eta = 0.9, C = 0.1",
            "gaussians(full('scw2', eta=0.9, C=0.1, floor=1e-12))",
            (
                (0.650754, 0, 0.444181, 0, 1),
                (0.520975, -0.292177, 0.395002, -0.11072, 0.750733),
                (0.535252, -0.388985, 0.392825, -0.095961, 0.650658),
                (0.389207, -0.661874, 0.347634, -0.180401, 0.492878),
            ),
        ),
    ),
)

STARTS = Section(
    "A perceptron with other initial weights",
    """Two positive examples of length 1 with margin 0.6, alternating. The initial weights are a unit vector (learned
in a first round). The perceptron then makes more than 1 / gamma^2 + 1 mistakes.""",
    """
mistakes = []
for degrees in (170.0, 190.0):
    start = np.array([np.cos(np.radians(degrees)), np.sin(np.radians(degrees))])
    learner = make("perceptron").learn(start[None], [1])
    said = learner.play(np.tile([[0.6, 0.8], [0.6, -0.8]], (20, 1)), np.ones(40))
    mistakes.append(int(said.mistakes.sum()))

bound = partial(nr.learners()["perceptron"].bound, radius=1.0, margin=0.6)
""",
    (
        Row("mistakes from initial weights at 170 and 190 degrees", "mistakes", (4, 4)),
        Row("1 / gamma^2 + 1", "round(bound() + 1.0, 2)", 3.78),
        Row("1 / gamma^2 + 2 / gamma", "round(bound(initial_norm=1.0), 2)", 6.11),
    ),
)

WINNOW = Section(
    "Winnow over 1024 variables",
    """The target is x1 or x2 or x1023 or x1024, the threshold 1024. First, six rounds. Then a later state, in which a
positive example is predicted correctly and a false positive follows. Finally, how often one variable is
promoted.""",
    """
from scipy.sparse import csr_array

n = 1024


def rows(*several):
    found = np.zeros((len(several), n))
    for row, on in zip(found, several):
        row[[j - 1 for j in on]] = 1.0
    return csr_array(found)


def sums(learner, X):
    return learner.scores(X) + n


first = rows(range(1, n + 1), [], [3, 4, 5], [1], [1, 3, 4], [1, 3, 1024])
winnow = make("winnow", alpha=2.0, theta=n)
said = winnow.play(first, [1, -1, -1, 1, 1, 1])

later = rows(*[[1]] * 9, *[[3]] * 8, *[[4]] * 8, *[[1024]] * 8)
alarm = rows([3, *range(5, 773)])
halving, eliminating = (make("winnow", alpha=2.0, theta=n, demotion=how) for how in ("halve", "eliminate"))
for learner in (halving, eliminating):
    learner.learn(later, np.ones(33))
before = sums(halving, rows([1, 3, 1024], [1], [3], [4], [1024]))
alarmed = [learner.play(alarm, [-1]).scores[0] + n for learner in (halving, eliminating)]

lone = make("winnow", alpha=2.0, theta=n)
lone.learn(rows(*[[1]] * 20), np.ones(20))
""",
    (
        Row("w.x in each of six rounds", "said.scores + n", (1024, 0, 3, 1, 4, 7)),
        Row("mistakes", "said.mistakes.tolist()", (False, False, False, True, True, True)),
        Row("w1, w3, w4, w1024", "sums(winnow, rows([1], [3], [4], [1024]))", (8, 4, 2, 2)),
        Row("later: w1, w3, w4, w1024", "before[1:]", (512, 256, 256, 256)),
        Row("later: w.x of {1, 3, 1024}, predicted correctly", "before[0]", 1024),
        Row("a false positive on {3, 5, 6, 7, ...}: w.x", "alarmed", (1024, 1024)),
        Row("w3 and w5 afterwards, with halving", "sums(halving, rows([3], [5]))", (128, 0.5)),
        Row("w3 and w5 afterwards, with elimination", "sums(eliminating, rows([3], [5]))", (0, 0)),
        Row("promotions when only x1 is on", "lone.updates", 10),
    ),
)

BALANCED = Section(
    "Balanced Winnow",
    """The target is x1 or not x2, over four variables and a constant. All sixteen rows, in the order of the binary
numbers, are repeated until an epoch makes no update. The number of mistakes depends on the order.""",
    """
every = np.array([[a, b, c, d, 1.0] for a in (0, 1) for b in (0, 1) for c in (0, 1) for d in (0, 1)])
target = (every[:, 0] == 1.0) | (every[:, 1] == 0.0)
balanced = make("winnow_balanced", alpha=2.0, start=2.0)
history = nr.epochs(balanced, every, np.where(target, 1, -1), shuffle=False)
""",
    (
        Row("converges", "history.stopped == 'no update'", True),
        Row("correct on all rows", "bool((balanced.predict(every) == np.where(target, 1, -1)).all())", True),
    ),
)

MAPS = Section(
    "Feature maps that make a problem linear",
    "Exclusive or is separable with the product x1 x2, but not without it; |x| < 1 is separable with the square.",
    """
inputs = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
plain = np.column_stack([np.ones(4), inputs])
product = np.column_stack([plain, inputs[:, 0] * inputs[:, 1]])
xor = np.array([-1, 1, 1, -1])
with_product, without = make("perceptron"), make("perceptron")
learned = nr.epochs(with_product, product, xor, shuffle=False)
never = nr.epochs(without, plain, xor, passes=200, shuffle=False)

points = np.array([-2.0, -1.5, -0.5, 0.0, 0.5, 1.5, 2.0])
squares = np.column_stack([np.ones(7), points, points**2])
interval = make("perceptron")
inside = nr.epochs(interval, squares, np.where(abs(points) < 1.0, 1, -1), shuffle=False)
""",
    (
        Row("exclusive or with the product: epochs", "len(learned)", 12),
        Row("updates", "with_product.updates", 29),
        Row("w", "with_product.scores(np.eye(4))", (-1, 2, 2, -5)),
        Row("without the product: converges", "never.stopped == 'no update'", False),
        Row("interval: epochs", "len(inside)", 3),
        Row("updates", "interval.updates", 4),
        Row("w", "interval.scores(np.eye(3))", (2, 1, -3.5)),
    ),
)

MULTICLASS = Section(
    "Passive-aggressive with three classes",
    "The correct class against its best rival (the first of equal ones); all three classes are given in advance.",
    """
rows = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0], [1.0, 1.0]])
labels = np.array([0, 1, 2, 0])
said = make("pa", task="multiclass", classes=[0, 1, 2]).play(rows, labels)
matrices = path(make("pa", task="multiclass", classes=[0, 1, 2]), rows, labels)
""",
    (
        Row("losses", "said.losses", (1, 1, 1, 0.5)),
        Row("W after round 1", "matrices[0]", ((0.5, 0), (-0.5, 0), (0, 0))),
        Row("W after round 2", "matrices[1]", ((0.5, -0.5), (-0.5, 0.5), (0, 0))),
        Row("W after round 3", "matrices[2]", ((0.75, -0.25), (-0.5, 0.5), (-0.25, -0.25))),
        Row("W after round 4", "matrices[3]", ((0.875, -0.125), (-0.625, 0.375), (-0.25, -0.25))),
    ),
)

SPARSE = Section(
    "Truncated gradient and dual averaging",
    "Three rounds each: squared loss, eta = 0.1, gravity 0.1, shrinkage before the step; hinge loss, lam = 0.1.",
    """
rows = np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 2.0]])
truncated = partial(
    make,
    "truncated_gradient",
    task="regression",
    scale_target=False,
    loss="squared",
    eta0=0.1,
    schedule="constant",
    gravity=0.1,
    order="pre",
)
predictions = truncated().play(rows, [1.0, 0.0, 1.0]).scores

rda = make("rda", lam=0.1, gamma=1.0)
means, steps = [], []
for t, label in enumerate([1, -1, 1]):
    rda.learn(rows[t : t + 1], [label])
    means.append(rda.model.arrays.G / (t + 1))
    steps.append(weights(rda))
""",
    (
        Row("truncated gradient: predictions", "predictions", (0, 0.19, -0.056)),
        Row(
            "w, before the shrinkage of 0.01 at the start of the next round",
            "[w + 0.01 * np.sign(w) for w in path(truncated(), rows, np.array([1.0, 0.0, 1.0]))]",
            ((0.2, 0), (0.152, -0.038), (0.142, 0.3944)),
        ),
        Row("l1-RDA: mean gradients", "means", ((-1, 0), (0, 0.5), (0, -0.333333))),
        Row("w", "steps", ((0.9, 0), (0, -0.565685), (0, 0.404145))),
    ),
)

THRESHOLDS = Section(
    "Boolean functions as linear thresholds",
    "Conjunction, disjunction, a negated literal, three of five: as linear thresholds, checked on all inputs.",
    """
from itertools import product

functions = [
    (nr.all_of("x1", "x2", "x3"), lambda on: all(on)),
    (nr.any_of("x1", "x2", "x3"), lambda on: any(on)),
    (nr.all_of("x1", "x2", "!x3"), lambda on: on[0] and on[1] and not on[2]),
    (nr.at_least(3, "x1", "x2", "x3", "x4", "x5"), lambda on: sum(on) >= 3),
]
right = [
    all(function(dict(zip(function.weights, on))) == truth(on) for on in product((0, 1), repeat=len(function.weights)))
    for function, truth in functions
]
""",
    (
        Row("and", "str(functions[0][0])", "x1 + x2 + x3 >= 3"),
        Row("or", "str(functions[1][0])", "x1 + x2 + x3 >= 1"),
        Row("x1 and x2 and not x3", "str(functions[2][0])", "x1 + x2 - x3 >= 2"),
        Row("three of five", "str(functions[3][0])", "x1 + x2 + x3 + x4 + x5 >= 3"),
        Row("correct on all rows", "right", (True, True, True, True)),
    ),
)

SECTIONS = (
    PERCEPTRON,
    FIRST_ORDER,
    SECOND_ORDER,
    STARTS,
    WINNOW,
    BALANCED,
    MAPS,
    MULTICLASS,
    SPARSE,
    THRESHOLDS,
    *worked_kernels.SECTIONS,
    *worked_mistakes.SECTIONS,
    *worked_concepts.SECTIONS,
)
