"""Kernels: exclusive or by hand, and two problems that no line separates."""

from verification.examples.page import Row, Section

EXCLUSIVE_OR = Section(
    "Exclusive or with a polynomial kernel",
    """The four corners of a square, positive where both numbers have one sign, and k(x, z) = (x.z + 1)^2: 9 for equal
corners and 1 for any others. By hand: every corner becomes a support in the first pass, with its label as coefficient.
Since (x.z + 1)^2 has the product of both numbers among its features, the score is 8 x1 x2. A linear learner keeps
making mistakes.""",
    """
corners, signs = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, -1.0], [-1.0, 1.0]]), np.array([1, -1, 1, -1])
kernel = make("perceptron@polynomial(degree=2, gamma=1)")
first, second = kernel.play(corners, signs), kernel.play(corners, signs)
coefficients = {tuple(one.row.values()): one.coefficient for one in kernel.supports}

linear = make("perceptron", bias=True)
shares = [linear.play(corners, signs).mistakes.mean() for _ in range(10)]
""",
    (
        Row("margins of the first pass", "signs * first.scores", (0, -1, 0, -1)),
        Row("updates", "first.updated.tolist()", (True, True, True, True)),
        Row("coefficients of the supports", "[coefficients[tuple(x)] for x in corners]", (1, -1, 1, -1)),
        Row("margins of the second pass", "signs * second.scores", (8, 8, 8, 8)),
        Row("updates", "int(second.updated.sum())", 0),
        Row("score of (2, 3)", "kernel.scores(np.array([[2.0, 3.0]]))", (48,)),
        Row("linear: more than 25 % mistakes in each of 10 passes", "min(shares) > 0.25", True),
    ),
)

RINGS = Section(
    "Two rings and an interval",
    """48 points on two circles, the inner one positive, and 31 points on a line, the middle positive. No line separates
the rings, and no threshold the interval; with the RBF kernel the perceptron makes no mistake on its second pass
([pictures.md](pictures.md#kernels)). Too many points for a hand: the first column is counted by a few lines of numpy in
the tests.""",
    """
angle = np.arange(24) * np.pi / 12
circle = np.column_stack([np.cos(angle), np.sin(angle)])
rings, inner = np.vstack([circle, 2.0 * circle]), np.where(np.arange(48) < 24, 1, -1)
line = np.linspace(-3.0, 3.0, 31)[:, None]
middle = np.where(abs(line[:, 0]) < 1.0, 1, -1)
RBF = "perceptron@rbf(gamma=1)"


def passes(name, X, y, **options):
    order = np.random.default_rng(1).permutation(len(y))
    learner = make(name, **options)
    return [int(learner.play(X[order], y[order]).mistakes.sum()) for _ in range(3)]


linear = [
    min(passes(name, X, y, bias=True)) / len(y)
    for name in ("perceptron", "pa1", "arow")
    for X, y in ((rings, inner), (line, middle))
]
""",
    (
        Row("rings: mistakes with the RBF kernel in three passes", "passes(RBF, rings, inner)", (8, 0, 0)),
        Row("interval", "passes(RBF, line, middle)", (6, 0, 0)),
        Row("perceptron, pa1 and arow: more than 25 % mistakes in every pass", "min(linear) > 0.25", True),
    ),
)

SECTIONS = (EXCLUSIVE_OR, RINGS)
