"""Errors in commonly printed statements about concept learners, each shown by a small run."""

from verification.examples.page import Row, Section

TIES = Section(
    "Halving leaves at most half of the concepts",
    """Printed: fewer than half. In a tie exactly half are left. With all monotone disjunctions of three features and
the unit vectors as rows, every mistake is a tie.""",
    """
halving = nr.make("halving", concepts=nr.k_disjunctions(3, 3), classes=[0, 1])
left = [len(halving)] + [len(halving.learn_one(row, 1)) for row in np.eye(3)]
""",
    (Row("concepts left after each of three mistakes", "left"), Row("mistakes", "halving.mistakes")),
)

LITERALS = Section(
    "Elimination makes n + 1 mistakes where literals may be negated",
    """Printed: n mistakes. This holds for features alone. Of 2n literals, the first mistake rules out n and each other
one at least one: n + 1, which an exhaustive search over all sequences of rows attains.""",
    """
worst = [
    nr.mistake_bound(
        nr.make("elimination", concept="disjunction", negations=negations, classes=[0, 1]),
        nr.k_disjunctions(3, 3, negations),
    ).mistakes
    for negations in (False, True)
]
""",
    (Row("n = 3: without and with negated literals", "worst"),),
)

COUNTS = Section(
    "How many disjunctions there are",
    """Printed: about 2^k n^k disjunctions of k literals, and log 3^n = n for all of them. There are 2^k C(n, k), which
is smaller by a factor of about k!; and log2 3^n is 1.585 n, so the bound of halving is above n. It is n for the 2^n
disjunctions without negated literals.""",
    """
n, k = 8, 3
exactly = len(nr.k_disjunctions(n, k, negations=True, exactly=True))
every = len(nr.k_disjunctions(n, n, negations=True))
""",
    (
        Row("disjunctions of exactly 3 of 8 features, negated or not", "exactly"),
        Row("2^k n^k", "2**k * n**k"),
        Row("all disjunctions of 8 features, negated or not", "every"),
        Row("log2 of it, divided by n", "np.log2(every) / n"),
    ),
)

CONCEPTS = (TIES, LITERALS, COUNTS)
