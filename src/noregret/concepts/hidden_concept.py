"""A hidden conjunction or disjunction, and the examples by which it is taught.

All is written for conjunctions. A disjunction is the negation of a conjunction of negated literals: rows and labels are
complemented, and literals stay as they are.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.concepts.boolean import Threshold, at_least, negation
from noregret.concepts.boolean_rows import check_features
from noregret.concepts.words import join_literals, name_literal
from noregret.errors import BadValue, shown
from noregret.rules.parameters import suggestion

CELLS = 4_000_000  # values of the random rows that are drawn at a time
Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class Target:
    """A hidden concept: its literals, and the features that it may be made of."""

    features: tuple[str, ...]
    literals: tuple[tuple[int, bool], ...]  # the place of a feature, and whether it is not negated
    conjunction: bool = True

    @property
    def words(self) -> str:
        named = [name_literal(self.features[at], not sign) for at, sign in self.literals]
        return join_literals(named, self.conjunction)

    @property
    def function(self) -> Threshold:
        """The concept as a function of columns."""
        found = [Threshold({at: 1}, 1) if sign else negation(Threshold({at: 1}, 1)) for at, sign in self.literals]
        return at_least(len(found) if self.conjunction else 1, *found)


def pac_examples(features: int, eps: float, delta: float, negations: bool = False) -> int:
    """How many random examples are enough for elimination: (L / eps) (ln L + ln 1/delta), for L literals to begin with.

    With probability 1 - delta, no literal survives that is wrong on more than eps / L of the rows. So the error is at
    most eps.
    """
    literals = 2 * features if negations else features
    return math.ceil(literals / eps * (math.log(literals) + math.log(1.0 / delta)))


def as_target(target: Any, features: Any, conjunction: bool, negations: bool) -> Target:
    """A hidden concept by names of literals; a number i stands for the feature x_i."""
    given = check_features(features)
    if given is None:
        raise BadValue("teach needs the number of features, or a list of names")
    names = tuple(f"x{at + 1}" for at in given) if isinstance(given, range) else tuple(given)
    if isinstance(target, str) or not isinstance(target, Sequence):
        raise BadValue(f"target must be a list of literals, as in ['x2', '!x5'], not {shown(target)}")
    place = {name: at for at, name in enumerate(names)}
    literals: dict[int, bool] = {}
    for one in target:
        text = f"x{one}" if isinstance(one, int) and not isinstance(one, bool) else one
        if not isinstance(text, str):
            raise BadValue(f"a literal is the name of a feature, or !name, not {shown(one)}")
        sign, name = not text.startswith("!"), text.removeprefix("!")
        if name not in place:
            hint = suggestion(name, place) or f"; features are {names[0]} to {names[-1]}"
            raise BadValue(f"target: there is no feature {name!r} among the {len(names)} given{hint}")
        if not sign and not negations:
            raise BadValue(f"target: {text} is negated; let the learner expect that: negations=True (--negations)")
        if literals.get(place[name], sign) != sign:
            raise BadValue(f"target: {name} and !{name} together are never what a concept of this class needs")
        literals[place[name]] = sign
    return Target(names, tuple(sorted(literals.items())), conjunction)


# ---- examples, as rows of conjunctions -------------------------------------------------------------------------------


def positive_row(hidden: Target, others: bool) -> Flags:
    """A row that makes every literal true; features that are in none have one value."""
    row = np.full(len(hidden.features), others)
    for at, sign in hidden.literals:
        row[at] = sign
    return row


def flipped(row: Flags, at: int) -> Flags:
    new = row.copy()
    new[at] = not new[at]
    return new


def ask_all(hidden: Target, negations: bool) -> Iterator[Flags]:
    """Every feature changed once in a row that is positive: the label turns exactly where it is needed.

    Without negations the row of ones is positive, and nobody has to show it.
    """
    start = positive_row(hidden, True)
    if negations:
        yield start
    for at in range(start.size):
        yield flipped(start, at)


def show_all(hidden: Target, negations: bool) -> Iterator[Flags]:
    """Positive rows that leave the target as the only consistent literals; then each literal is shown to be needed."""
    start = positive_row(hidden, False)
    yield start
    if negations and len(hidden.literals) < start.size:
        yield positive_row(hidden, True)
    for at, _ in hidden.literals:
        yield flipped(start, at)


def draw_blocks(hidden: Target, count: int, seed: int) -> Iterator[tuple[NDArray[np.float64], NDArray[np.int64]]]:
    """Random rows with their labels, some at a time; half of them are positive, if the target can be."""
    n = len(hidden.features)
    size = max(1, min(1000, CELLS // n))
    for number, start in enumerate(range(0, count, size)):
        block = int(np.random.SeedSequence([seed, number]).generate_state(1)[0])
        yield hidden.function.draw(min(size, count - start), n, seed=block)
