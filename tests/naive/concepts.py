"""Concept learners, the obvious way: sets of literals, lists of functions, all rows as dicts."""

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

Row = dict[Any, int]
Literal = tuple[Any, bool]  # a feature, and the value at which the literal is true


def value(literal: Literal, row: Row) -> bool:
    feature, wanted = literal
    return bool(row.get(feature, 0)) == wanted


class Elimination:
    """A set of literals over features that are all known beforehand."""

    def __init__(self, features: Sequence[Any], conjunction: bool, negations: bool) -> None:
        self.conjunction = conjunction
        signs = (True, False) if negations else (True,)
        self.left = {(feature, sign) for feature in features for sign in signs}
        self.mistakes = self.updates = self.inconsistent = 0

    def predict(self, row: Row) -> bool:
        values = [value(literal, row) for literal in self.left]
        return all(values) if self.conjunction else any(values)

    def learn(self, row: Row, label: bool) -> bool:
        said = self.predict(row)
        self.mistakes += said != label
        if label == self.conjunction:
            self.updates += said != label
            self.left = {literal for literal in self.left if value(literal, row) == self.conjunction}
        else:
            self.inconsistent += said != label
        return said


class Halving:
    """A list of functions of a row."""

    def __init__(self, concepts: Sequence[Callable[[Row], bool]]) -> None:
        self.left = list(concepts)

    def learn(self, row: Row, label: bool) -> bool:
        votes = [concept(row) for concept in self.left]
        said = sum(votes) > len(votes) - sum(votes)
        self.left = [concept for concept, vote in zip(self.left, votes, strict=True) if vote == label]
        return said


def literal_sets(features: Sequence[Any], k: int, negations: bool, exactly: bool) -> list[tuple[Literal, ...]]:
    """All sets of at most, or exactly, k literals of different features."""
    found = []
    for size in range(k if exactly else 0, k + 1):
        for chosen in itertools.combinations(features, size):
            for signs in itertools.product((True, False) if negations else (True,), repeat=size):
                found.append(tuple(zip(chosen, signs, strict=True)))
    return found


def as_concept(literals: tuple[Literal, ...], conjunction: bool) -> Callable[[Row], bool]:
    join = all if conjunction else any
    return lambda row: join(value(literal, row) for literal in literals)


def most_specific(
    rows: Sequence[Row], labels: Sequence[bool], features: Sequence[Any], negations: bool
) -> set[Literal] | None:
    """The consistent conjunction with most literals, by trying every set; None where there is none."""
    literals = [(feature, sign) for feature in features for sign in ((True, False) if negations else (True,))]
    best: set[Literal] | None = None
    for size in range(len(literals) + 1):
        for chosen in itertools.combinations(literals, size):
            concept = as_concept(chosen, True)
            if all(concept(row) == label for row, label in zip(rows, labels, strict=True)):
                best = set(chosen)
    return best


def worst_case(concepts: Sequence[tuple[bool, ...]]) -> int:
    """The most mistakes of halving: concepts as their values on all points; every target, every order of points."""
    points = range(len(concepts[0]))
    most = 0
    for target in concepts:
        for order in itertools.permutations(points, min(4, len(points))):
            left, mistakes = list(concepts), 0
            for at in order:
                ones = sum(one[at] for one in left)
                mistakes += (ones > len(left) - ones) != target[at]
                left = [one for one in left if one[at] == target[at]]
            most = max(most, mistakes)
    return most


def pac_count(n: int, eps: float, delta: float) -> int:
    return math.ceil(n / eps * (math.log(n) + math.log(1.0 / delta)))
