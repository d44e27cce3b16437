"""Disjunctive normal form: a threshold function as an OR of conjunctions, such as m of n as all conjunctions of m."""

import itertools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from noregret.concepts.boolean import Feature, Threshold, all_of, negation
from noregret.concepts.words import describe
from noregret.errors import BadValue, shown

MOST_TERMS = 100_000


@dataclass(frozen=True)
class DNF:
    """An OR of conjunctions. Call it as a `Threshold`, with a dict, a list of dicts, a row or a matrix."""

    terms: tuple[Threshold, ...]

    def __call__(self, rows: Any, columns: Any = None) -> Any:
        """True or False for one row, an array of these for many."""
        found = [np.asarray(term(rows, columns)) for term in (*self.terms, ~all_of())]  # the last one is never true
        value = np.logical_or.reduce(found)
        return bool(value) if value.ndim == 0 else value

    def __len__(self) -> int:
        return len(self.terms)

    def __str__(self) -> str:
        words = [describe(term) for term in self.terms]
        return " OR ".join(f"({one})" if " AND " in one else one for one in words) or "always false"


def as_dnf(function: Threshold) -> DNF:
    """A threshold function as the OR of its prime implicants: the smallest conjunctions that make it true.

    Of `at_least(m, ...)` with n literals, these are the C(n, m) conjunctions of m of them.
    """
    if not isinstance(function, Threshold):
        raise BadValue(
            f"as_dnf takes a threshold function such as nr.at_least(2, 'a', 'b', 'c'), not {shown(function)}"
        )
    # Each feature in the literal that helps; theta counts from the sum in which no literal is true.
    weights = {feature: weight for feature, weight in function.weights.items() if weight}
    needed = function.theta - sum(weight for weight in weights.values() if weight < 0)
    sizes = {feature: abs(weight) for feature, weight in weights.items()}
    if needed <= 0:
        return DNF((all_of(),))
    if len(set(sizes.values())) == 1:
        size = next(iter(sizes.values()))
        m = math.ceil(needed / size)
        check_terms(math.comb(len(sizes), m))
        return DNF(tuple(as_term(chosen, weights) for chosen in itertools.combinations(sizes, m)))
    return DNF(tuple(as_term(chosen, weights) for chosen in find_implicants(sizes, needed)))


def as_term(features: tuple[Feature, ...], weights: dict[Feature, float]) -> Threshold:
    """The conjunction of the literals of these features that help."""
    one = [Threshold({feature: 1}, 1) for feature in features]
    signs = [weights[feature] > 0 for feature in features]
    return all_of(*(literal if sign else negation(literal) for literal, sign in zip(one, signs, strict=True)))


def find_implicants(sizes: dict[Feature, float], needed: float) -> list[tuple[Feature, ...]]:
    """The smallest sets of features whose sizes reach what is needed, the large ones first."""
    order = sorted(sizes, key=lambda feature: -sizes[feature])
    rest = [sum(sizes[feature] for feature in order[at:]) for at in range(len(order) + 1)]
    found: list[tuple[Feature, ...]] = []

    def extend(at: int, chosen: tuple[Feature, ...], total: float) -> None:
        if total >= needed:
            if not chosen or total - sizes[chosen[-1]] < needed:  # features come in order of size: the last is smallest
                found.append(chosen)
                check_terms(len(found))
            return
        if total + rest[at] < needed:
            return
        extend(at + 1, (*chosen, order[at]), total + sizes[order[at]])
        extend(at + 1, chosen, total)

    extend(0, (), 0.0)
    return found


def check_terms(count: int) -> None:
    if count > MOST_TERMS:
        raise BadValue(f"the disjunctive normal form has {count:,} terms or more; the most is {MOST_TERMS:,}: keep the "
                       "threshold function")  # fmt: skip
