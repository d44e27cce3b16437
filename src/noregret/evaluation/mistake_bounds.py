"""How many mistakes a learner can make at most: the theorems of its card, for the best comparators known."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from noregret.errors import BadValue
from noregret.evaluation.bounds import OF_SEPARATORS, Theorem, smallest_bound
from noregret.evaluation.hindsight import Fixed, Played, Rounds
from noregret.evaluation.theorem_quantities import Quantities
from noregret.rules.card import Card
from noregret.rules.guarantee import Guarantee
from noregret.rules.quantities import QUANTITIES

OF_MISTAKES = ("mistakes", "updates", "squared loss", "squared loss on updates")
"""What a theorem may bound here; losses of at least 1 on every mistake bound the mistakes, too."""
COMPARATORS = (*OF_SEPARATORS, "any")


@dataclass(frozen=True)
class MistakeBound:
    """What a theorem says of a learner on these rows, beside what it did in one pass.

    `bounds` are the mistakes or the updates; `observed` is how many of them there were. `at_most` is None where no
    theorem applies, for the reason in `why_not`.
    """

    learner: str
    mistakes: int
    updates: int
    at_most: float | None = None
    bounds: str | None = None
    observed: float | None = None
    says: str | None = None
    comparator: str | None = None
    assumes: str | None = None
    why_not: str | None = None

    @property
    def holds(self) -> bool | None:
        """Whether what was observed is within the bound."""
        if self.at_most is None or self.observed is None:
            return None
        return self.observed <= self.at_most * (1.0 + 1e-9)


def has_mistake_bound(card: Card, options: Mapping[str, Any] | None = None) -> bool:
    """Whether some theorem of the card bounds mistakes for these options, against comparators that are found here."""
    return any(is_usable(one) for one in card.guarantees_for(options or {}))


def is_usable(guarantee: Guarantee) -> bool:
    return guarantee.bounds in OF_MISTAKES and guarantee.comparator in COMPARATORS


def smallest_mistake_bound(
    theorem: Theorem, rounds: Rounds, played: Played, comparators: Sequence[Fixed]
) -> tuple[Guarantee, float, str]:
    """The theorem with the smallest bound, that bound, and the comparator; an error says why there is none."""
    usable = [one for one in theorem.valid if is_usable(one)]
    if not usable:
        raise BadValue(why_none(theorem))
    refusals = [theorem.refuse(one) for one in usable]
    if None not in refusals:
        raise BadValue(str(refusals[0]))
    quantities = Quantities(rounds, played, theorem)
    found: tuple[Guarantee, float, str] | None = None
    for guarantee, refusal in zip(usable, refusals, strict=True):
        if refusal is not None or quantities.missing(guarantee.needs):
            continue
        value, name = smallest_bound(theorem, guarantee, quantities, choose(guarantee, comparators, rounds))
        if name is not None and (found is None or value < found[1]):
            found = guarantee, value, name
    if found is None:
        raise BadValue(why_not_here(usable, any(one.separates for one in comparators)))
    if math.isinf(found[1]):
        raise BadValue("its theorem says nothing about these rows: a condition on them does not hold")
    return found


def choose(guarantee: Guarantee, comparators: Sequence[Fixed], rounds: Rounds) -> list[Fixed]:
    """The comparators that a theorem is about; separators with their smallest margin as 1."""
    if guarantee.comparator not in OF_SEPARATORS:
        return list(comparators)
    return [rounds.scale(one, 1.0 / one.least) for one in comparators if one.separates]


def why_none(theorem: Theorem) -> str:
    """Why no theorem of a card bounds mistakes for these options."""
    reason = theorem.card.why_no_guarantee(theorem.options)
    if reason is not None:
        return reason
    bounded = ", ".join(dict.fromkeys(one.bounds for one in theorem.valid))
    return f"its theorem is about another quantity: {bounded}"


def why_not_here(usable: Sequence[Guarantee], separated: bool) -> str:
    """Why none of these theorems can be evaluated."""
    if not separated and all(one.comparator in OF_SEPARATORS for one in usable):
        return "its theorem needs separable rows"
    played = [name for one in usable for name in one.needs if QUANTITIES[name].source in ("play", "update")]
    return f"its bound needs {QUANTITIES[played[0]].about}" if played else "its bound cannot be evaluated here"
