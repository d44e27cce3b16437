"""Three ways to learn a hidden conjunction or disjunction: the learner asks, a teacher helps, or a random source."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from noregret.concepts.elimination import CONCEPT, Elimination
from noregret.concepts.hidden_concept import Flags, Target, as_target, ask_all, draw_blocks, pac_examples, show_all
from noregret.concepts.lesson_text import PROTOCOLS, describe_end, describe_row, describe_start
from noregret.concepts.words import join_literals, name_literal
from noregret.errors import BadValue, shown
from noregret.rules.parameters import Param, suggestion

Protocol: TypeAlias = Literal["queries", "teacher", "random"]
EPS = Param(0.1, above=0.0, below=1.0, about="the error that is allowed", untuned="it is what is asked for")
DELTA = Param(0.05, above=0.0, below=1.0, about="the probability of a larger error", untuned="it is what is asked for")
FRESH = 2_000  # rows on which the error is measured


@dataclass(frozen=True)
class Step:
    """One example: the row in words, its label, what was predicted, and what is known after it.

    `left` counts the literals that are not ruled out, `undecided` those of them that no example has shown to be needed;
    it is None where examples come at random.
    """

    number: int
    example: str
    label: int
    predicted: int
    mistakes: int
    left: int
    undecided: int | None = None


@dataclass
class Lesson:
    """A run of one protocol: its steps, the number of examples that was promised, and what was learned."""

    protocol: str
    concept: str
    negations: bool
    features: int
    relevant: int
    target: str
    promised: int
    promise: str
    bound: float
    examples: int = 0
    mistakes: int = 0
    learned: str = ""
    exact: bool = False
    error: float | None = None  # on `fresh` other examples of the random source
    fresh: int = 0
    eps: float | None = None
    delta: float | None = None
    seed: int | None = None
    steps: list[Step] = field(default_factory=list)  # of a random source, those that ruled literals out

    def __str__(self) -> str:
        return "\n".join([describe_start(self), *describe_end(self)])


def teach(
    target: Any,
    features: Any,
    protocol: Protocol = "queries",
    *,
    concept: str = "conjunction",
    negations: bool = False,
    tell: Callable[[Lesson, Step | None], None] | None = None,
    **options: Any,
) -> Lesson:
    """Teach a hidden conjunction or disjunction by one of three protocols, and count.

    `target` lists its literals, as in ["x2", "!x5"]; `features` is the number of features, which are then called x1, x2
    ..., or a list of names. Protocols are "queries" (n rows are asked), "teacher" (r + 1 examples for r literals) and
    "random" (the PAC count for `eps` and `delta`; or `rounds`, drawn by `seed`). With `negations` the learner allows
    for negated literals: "queries" then begins with one positive example, "teacher" with two. `tell(lesson, step)` is
    called with every step, and by a random source with None now and then.
    """
    if protocol not in PROTOCOLS:
        raise BadValue(f"protocol must be one of {', '.join(PROTOCOLS)}, not {shown(protocol)}")
    CONCEPT.check("teach", "concept", concept)
    hidden = as_target(target, features, concept == "conjunction", negations)
    lesson = make_lesson(hidden, protocol, negations, options)
    pupil = Pupil(hidden, negations, lesson, tell)
    if protocol == "random":
        for rows, labels in draw_blocks(hidden, lesson.promised, lesson.seed or 0):
            pupil.learn_block(rows, labels)
        lesson.error, lesson.fresh = pupil.measure_error(lesson.seed or 0), FRESH
    else:
        for row in ask_all(hidden, negations) if protocol == "queries" else show_all(hidden, negations):
            pupil.learn(row)
    pupil.finish()
    return lesson


def make_lesson(hidden: Target, protocol: Protocol, negations: bool, options: dict[str, Any]) -> Lesson:
    """A lesson before its first step, with the number of examples that its protocol promises."""
    n, r = len(hidden.features), len(hidden.literals)
    known = {"eps", "delta", "seed", "rounds"} if protocol == "random" else set()
    wrong = next((name for name in options if name not in known), None)
    if wrong is not None:
        fits = suggestion(wrong, known) if known else f" for the protocol {protocol}; random has some"
        raise BadValue(f"teach has no option {wrong!r}{fits}")
    lesson = Lesson(
        protocol, "conjunction" if hidden.conjunction else "disjunction", negations, n, r, hidden.words, 0, "",
        float(n + negations),
    )  # fmt: skip
    if protocol == "queries":
        lesson.promised, lesson.promise = (n + 1, "1 example and n queries") if negations else (n, "n queries")
    elif protocol == "teacher":
        extra = 2 if negations and r < n else 1
        lesson.promised, lesson.promise = r + extra, f"r + {extra} examples"
    else:
        eps = EPS.check("teach", "eps", options.get("eps", EPS.default))
        delta = DELTA.check("teach", "delta", options.get("delta", DELTA.default))
        rounds, seed = options.get("rounds"), options.get("seed", 0)
        for name, value in (("rounds", 1 if rounds is None else rounds), ("seed", seed)):
            if type(value) is not int or value < 0:
                raise BadValue(f"teach: {name} must be a whole number that is not negative, not {shown(value)}")
        lesson.eps, lesson.delta, lesson.seed = eps, delta, seed
        count = pac_examples(n, eps, delta, negations)
        lesson.promised = count if rounds is None else rounds
        lesson.promise = f"the PAC count for eps = {eps:g} and delta = {delta:g}"
        if rounds is not None:
            lesson.promise = f"as asked; {lesson.promise} is {count:,}"
    return lesson


# ---- the learner -----------------------------------------------------------------------------------------------------


class Pupil:
    """Elimination, with a list of the literals that examples have shown to be needed."""

    def __init__(
        self, hidden: Target, negations: bool, lesson: Lesson, tell: Callable[[Lesson, Step | None], None] | None
    ) -> None:
        self.hidden, self.lesson, self.tell = hidden, lesson, tell or (lambda lesson, step: None)
        self.complement = not hidden.conjunction
        self.learner: Elimination = Elimination.card.build(  # type: ignore[attr-defined]
            concept=lesson.concept,
            negations="yes" if negations else "no",
            classes=[0, 1],
            features=len(hidden.features),
        )
        self.needed = np.zeros((2, len(hidden.features)), bool)
        self.left = self.find_left()

    def find_left(self) -> Flags:
        """The literals left: features in the first row, negated ones in the second."""
        left = np.zeros((2, len(self.hidden.features)), bool)
        for signs, places in zip(left, self.learner.left(), strict=True):
            signs[np.array(places, np.int64)] = True
        return left

    def learn(self, row: Flags) -> None:
        """Learn an example that is given as a row of conjunctions; the target tells its label."""
        real = (row != self.complement).astype(np.float64)
        label = bool(self.hidden.function(real))
        said, before = bool(self.learner.predict_one(real)), self.learner.mistakes
        self.learner.learn_one(real, int(label))
        if self.learner.mistakes > before:
            self.left = self.find_left()
        if label != self.hidden.conjunction:
            values = np.array([real == 1.0, real == 0.0])
            deciding = self.left & (values != self.hidden.conjunction)
            if np.count_nonzero(deciding) == 1:
                self.needed |= deciding
        self.record(real, label, said, int(np.count_nonzero(self.left & ~self.needed)))

    def record(self, row: NDArray[np.float64], label: bool, said: bool, undecided: int | None = None) -> None:
        """Keep a step, and tell it."""
        lesson, learner, left = self.lesson, self.learner, int(np.count_nonzero(self.left))
        lesson.examples, lesson.mistakes = learner.rounds, learner.mistakes
        words = describe_row(row, self.hidden.features)
        step = Step(learner.rounds, words, int(label), int(said), learner.mistakes, left, undecided)
        lesson.steps.append(step)
        self.tell(lesson, step)

    def learn_block(self, rows: NDArray[np.float64], labels: NDArray[np.int64]) -> None:
        """Learn random examples; those that rule nothing out are not recorded."""
        start = 0
        while start < len(rows):
            probe = self.learner.copy()
            played = probe.play(rows[start:], (labels[start:] > 0).astype(int))
            changed = np.flatnonzero(played.updated)
            stop = start + int(changed[0]) if changed.size else len(rows)
            if not changed.size:
                self.learner = probe
            else:
                self.learner.learn(rows[start:stop], (labels[start:stop] > 0).astype(int))
                self.learner.learn_one(rows[stop], int(labels[stop] > 0))
                self.left = self.find_left()
                self.record(rows[stop], bool(labels[stop] > 0), not bool(labels[stop] > 0))
            start = stop + 1
        self.lesson.examples, self.lesson.mistakes = self.learner.rounds, self.learner.mistakes
        self.tell(self.lesson, None)

    def measure_error(self, seed: int) -> float:
        """The share of fresh rows of the same source that are predicted wrongly."""
        wrong = total = 0
        for rows, labels in draw_blocks(self.hidden, FRESH, seed + 1_000_003):
            wrong += int(np.count_nonzero(self.learner.predict(rows) != (labels > 0)))
            total += len(labels)
        return wrong / max(total, 1)

    def finish(self) -> None:
        """Say what was learned."""
        names = self.hidden.features
        positive, negated = self.learner.left()
        words = [*(name_literal(names[int(at)]) for at in positive)]
        words += [name_literal(names[int(at)], True) for at in negated]
        found = {(int(at), True) for at in positive} | {(int(at), False) for at in negated}
        self.lesson.learned = join_literals(words, self.hidden.conjunction)
        self.lesson.exact = found == set(self.hidden.literals)
