"""Worked examples of predictions and mistakes: scores, votes and averages, margins, steps that are too short."""

from verification.examples.page import Row, Section

SCORES = Section(
    "The class with the largest score",
    """Four classes, one weight vector each, trained one-vs-rest on the four unit vectors: class r has weight 1 for
feature r and -1 for the others. Its score of a row x is then 2 x_r minus the sum of the row.""",
    """
classes = make("perceptron", task="multiclass", classes=[1, 2, 3, 4], competitor="rest")
classes.learn(np.eye(4), [1, 2, 3, 4])
W = classes.scores(np.eye(4)).T
x = np.array([[-0.255, 1.115, 0.47, -0.76]])
""",
    (
        Row("W", "W", ((1, -1, -1, -1), (-1, 1, -1, -1), (-1, -1, 1, -1), (-1, -1, -1, 1))),
        Row("scores of x", "classes.scores(x)[0]", (-1.08, 1.66, 0.37, -2.09)),
        Row("predicted class", "classes.predict(x)[0]", 2),
    ),
)

VOTES = Section(
    "An average and a vote that differ",
    """Every round is an update, so each weight vector has one vote, c1 = c2 = c3 = 1, and so has the zero vector, which
abstains. Two of three score the row (1, 0) positive, by a little; the third scores it negative, by much.""",
    """
rows, labels = np.array([[1.0, 0.0], [0.0, -1.0], [6.0, 0.0]]), np.array([1, -1, -1])
vectors = path(make("perceptron"), rows, labels)
averaged = make("perceptron_averaged").learn(rows, labels)
voted = make("perceptron_voted").learn(rows, labels)
x = np.array([[1.0, 0.0]])
""",
    (
        Row("w1, w2, w3", "vectors", ((1, 0), (1, 1), (-5, 1))),
        Row("their scores of x", "np.array(vectors) @ x[0]", (1, 1, -5)),
        Row("the average, including the zero vector", "weights(averaged)", (-0.75, 0.5)),
        Row("average: score and prediction", "(averaged.scores(x)[0], averaged.predict(x)[0])", (-0.75, -1)),
        Row("votes for +1 minus votes for -1", "voted.scores(x)[0]", 1),
        Row("vote: prediction", "voted.predict(x)[0]", 1),
    ),
)

STILL_WRONG = Section(
    "An update after which the row is still wrong",
    """After the positive row (10, 0) the perceptron scores (1, 0) with 10. If that row is negative, one update
subtracts only |x|^2 = 1, and the prediction stays wrong; the same row causes eleven updates. PA steps as far as the row
needs.""",
    """
x = np.array([[1.0, 0.0]])
perceptron, pa = (make(name).learn([[10.0, 0.0]], [1]) for name in ("perceptron", "pa"))
said = perceptron.play(np.repeat(x, 12, axis=0), -np.ones(12))
before = pa.scores(x)[0]
pa.learn(x, [-1])
""",
    (
        Row("perceptron: scores of x in twelve rounds", "said.scores", (10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0, -1)),
        Row("mistakes", "said.mistakes.sum()", 11),
        Row("PA: score before and after one update", "(before, pa.scores(x)[0])", (0.1, -1)),
    ),
)

LOW_MARGIN = Section(
    "A lower margin means more mistakes",
    """The T unit vectors, all negative: the separator -(1, ..., 1) / sqrt(T) has the margin gamma = 1 / sqrt(T), and
the perceptron learns nothing about a vector from the others. It makes exactly 1 / gamma^2 mistakes, as many as the
bound allows.""",
    """
sizes = np.array([4, 9, 16, 100])
margins = [min(np.eye(T) @ np.ones(T) / np.sqrt(T)) for T in sizes]
mistakes = [make("perceptron").play(np.eye(T), -np.ones(T)).mistakes.sum() for T in sizes]
bounds = [nr.learners()["perceptron"].bound(radius=1.0, margin=gamma) for gamma in margins]
""",
    (
        Row("gamma", "margins", (0.5, 0.333333, 0.25, 0.1)),
        Row("mistakes", "mistakes", (4, 9, 16, 100)),
        Row("1 / gamma^2", "bounds", (4, 9, 16, 100)),
    ),
)

REQUIRED = Section(
    "A lower required margin means more mistakes",
    """The perceptron that updates wherever the margin is below b, on 569 tumours (30 measurements, each scaled by those
before it). A larger b costs updates and saves mistakes, though not at every step. Too many rounds for a hand: the first
column is counted by a few lines of numpy in the tests.""",
    """
from sklearn.datasets import load_breast_cancer

rows, labels = load_breast_cancer(return_X_y=True)
required = (1e-9, 1.0, 5.0, 10.0, 100.0)
learners = [make("perceptron_margin", b=b, scale=True, bias=True).learn(rows, labels) for b in required]
""",
    (
        Row("mistakes with b = 0, 1, 5, 10, 100", "[learner.mistakes for learner in learners]", (45, 38, 41, 37, 34)),
        Row("updates", "[learner.updates for learner in learners]", (45, 41, 61, 67, 158)),
    ),
)

TWO_POINTS = Section(
    "Two points, one of each class",
    """By Novikoff's theorem, any two points that are not on one ray from the origin are separated after finitely many
updates. Here, twenty random pairs.""",
    """
rng = np.random.default_rng(0)
pairs = rng.normal(size=(20, 2, 2))
stopped = [nr.epochs(make("perceptron"), pair, [1, -1], passes=10_000).stopped for pair in pairs]
""",
    (Row("separated pairs, of twenty", "stopped.count('no update')", 20),),
)

SECTIONS = (SCORES, VOTES, STILL_WRONG, LOW_MARGIN, REQUIRED, TWO_POINTS)
