"""Worked examples of concept learners: a spam filter, mistakes counted by hand, teaching, Winnow to the end."""

from verification.examples.page import Row, Section

SPAM = Section(
    "A spam filter: drugs OR credit OR pill",
    """Mails as sets of words; spam is what contains one of three words. Elimination begins with all words and drops
those of every mail that it takes for spam by mistake. A helpful teacher needs four mails: one that is not spam, and one
for each word.""",
    """
mails = ["drugs hello", "hello meeting", "credit today", "pill lunch", "lunch today", "meeting pill"]
rows = [dict.fromkeys(mail.split(), 1) for mail in mails]
filter = nr.make("elimination", concept="disjunction", classes=["ham", "spam"])
said = filter.play(rows, ["spam", "ham", "spam", "spam", "ham", "spam"])

words = ["drugs", "credit", "pill", "hello", "meeting", "lunch", "today"]
taught = nr.teach(["drugs", "credit", "pill"], words, "teacher", concept="disjunction")
asked = nr.teach(["drugs", "credit", "pill"], words, "queries", concept="disjunction")
""",
    (
        Row("mistakes", "said.mistakes", (False, True, False, False, True, False)),
        Row("what is left", "filter.words", "drugs OR credit OR pill"),
        Row("a mail with hello and credit", "filter.predict_one({'hello': 1, 'credit': 1})", "spam"),
        Row("examples of a teacher, r + 1", "taught.examples", 4),
        Row("queries of a learner that asks, n", "asked.examples", 7),
        Row("both learn the target", "(taught.exact, asked.exact)", (True, True)),
    ),
)

COUNTED = Section(
    "How many mistakes concept learners make",
    """The target is false everywhere, and the rows are the zero vector and the n = 6 unit vectors: elimination makes n
mistakes, and n + 1 with negated literals, where the zero vector rules out one of each pair. The other counts are the
worst cases over all targets and all sequences of rows of three features, by exhaustive search.""",
    """
rows, labels = np.vstack([np.zeros((1, 6)), np.eye(6)]), np.zeros(7, int)
monotone, general = (
    nr.make("elimination", concept="disjunction", negations=negations, classes=[0, 1]).learn(rows, labels)
    for negations in (False, True)
)
concepts = nr.k_disjunctions(3, 3)
halving, con = (nr.mistake_bound(name, concepts) for name in ("halving", "con"))
""",
    (
        Row("elimination", "monotone.mistakes", 6),
        Row("elimination with negated literals", "general.mistakes", 7),
        Row("monotone disjunctions of three features", "len(concepts)", 8),
        Row("halving, at worst: log2 8", "halving.mistakes", 3),
        Row("CON, at worst: 8 - 1", "con.mistakes", 7),
    ),
)

TEACHING = Section(
    "Three ways to teach a conjunction",
    """The hidden concept is x2 AND x3 AND x4 AND x5 AND x100, of 100 features. A learner that asks needs a query for
each feature; a teacher shows one positive example and five negative ones; random examples are enough in the number of
the theorem for an error of 0.1 with probability 0.95, though elimination is done after a few.""",
    """
target = ["x2", "x3", "x4", "x5", "x100"]
lessons = [nr.teach(target, 100, protocol) for protocol in ("queries", "teacher", "random")]
""",
    (
        Row("examples: n, r + 1, (n / eps)(ln n + ln 1/delta)", "[one.examples for one in lessons]", (100, 6, 7601)),
        Row("learned exactly", "[one.exact for one in lessons]", (True, True, True)),
        Row("random: the last example that taught anything", "lessons[2].steps[-1].number", 12),
    ),
)

WINNOW_TO_THE_END = Section(
    "Winnow, run to its final hypothesis",
    """1024 features, four of them relevant, one shown at a time: each weight is doubled ten times, from 1 to the
threshold 1024. All other weights stay 1, and together, 1020, they do not reach it.""",
    """
n, relevant = 1024, [0, 1, 1022, 1023]
rows = np.zeros((60, n))
rows[np.arange(60), np.tile(relevant, 15)] = 1.0
winnow = make("winnow", alpha=2.0, theta=1024.0, classes=[0, 1]).learn(rows, np.ones(60, int))
others = np.ones((1, n))
others[0, relevant] = 0.0
""",
    (
        Row("mistakes, 4 log2 1024", "winnow.mistakes", 40),
        Row("bound, 3 k log2 n + 2", "winnow.card.bound(winnow.params, features=n, relevant=4)", 122),
        Row("weights of the relevant features", "(winnow.scores(np.eye(n)) + n)[relevant]", (1024, 1024, 1024, 1024)),
        Row("all others on: sum, prediction", "(winnow.scores(others)[0] + n, winnow.predict(others)[0])", (1020, 0)),
    ),
)

SECTIONS = (SPAM, COUNTED, TEACHING, WINNOW_TO_THE_END)
