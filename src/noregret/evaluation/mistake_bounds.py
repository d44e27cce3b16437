"""How many mistakes a learner can make at most: the theorems of its card, for the best comparators known."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.errors import BadValue
from noregret.evaluation.hinge_sum import hinge_losses
from noregret.evaluation.separability import Examples, smallest_margin
from noregret.rules.card import Card
from noregret.rules.guarantee import Guarantee
from noregret.rules.quantities import QUANTITIES

Floats = NDArray[np.float64]
OF_MISTAKES = ("mistakes", "updates", "squared loss", "squared loss on updates")
"""What a theorem may bound here; losses of at least 1 on every mistake bound the mistakes, too."""
OF_SEPARATORS = ("separating", "lossless")
COMPARATORS = (*OF_SEPARATORS, "any")


@dataclass(frozen=True, eq=False)
class Rows:
    """The rows of a run as signed examples, and what bounds need to know of them."""

    examples: Examples
    X: Any  # csr_matrix
    classes: int

    @cached_property
    def quantities(self) -> dict[str, float]:
        """What depends on nothing but the rows."""
        sizes = self.examples.sizes
        rows = np.sqrt(np.asarray(self.X.multiply(self.X).sum(axis=1)).ravel())
        used = self.X.indices[self.X.data != 0.0]
        return {
            "rounds": float(self.examples.rounds),
            "features": float(used.max() + 1) if used.size else 0.0,
            "classes": float(self.classes),
            "radius": float(sizes.max()),
            "least_radius": float(sizes.min()),
            "row_radius": float(rows.max()),
            "largest_value": float(np.abs(self.X.data).max(initial=0.0)),
            "initial_norm": 0.0,
        }


@dataclass(frozen=True, eq=False)
class Play:
    """What a learner did on the rows: the rounds with an update, and those with a mistake."""

    rows: Rows
    updated: NDArray[np.bool_]
    mistakes: NDArray[np.bool_]

    def quantity(self, name: str, u: Floats, losses: Floats, p: Any) -> float | None:
        """A quantity of the updates; None where it has none of this name, or a round has several examples."""
        Z = self.rows.examples.Z
        if Z.shape[0] != len(self.updated):
            return None
        if name == "updates_without_mistake":
            return float(np.count_nonzero(self.updated & ~self.mistakes))
        if name == "comparator_loss_on_updates":
            return float(losses[self.updated].sum())
        if name == "squared_scores_on_updates":
            scores = np.asarray(Z[self.updated] @ u)
            return float(scores @ scores)
        return self.log_det(float(getattr(p, "r", 1.0))) if name == "log_det" else None

    def log_det(self, r: float) -> float:
        """ln det(I + S / r), S the sum of z z' over the updates; by the smaller of the two matrices with this value."""
        Z = self.rows.examples.Z[self.updated]
        S = (Z @ Z.T if Z.shape[0] < Z.shape[1] else Z.T @ Z).toarray()
        return float(np.linalg.slogdet(np.eye(len(S)) + S / r)[1])


@dataclass(frozen=True, eq=False)
class ComparatorQuantities:
    """A comparator, and the quantities that bounds need of it; a separator also with its smallest margin as 1."""

    name: str
    weights: Floats
    rows: Rows
    least: float = field(init=False)  # min u.z, a lower bound

    def __post_init__(self) -> None:
        norm = float(np.linalg.norm(self.weights))
        low = smallest_margin(self.rows.examples.Z, self.weights)[0] * norm if norm > 0.0 else 0.0
        object.__setattr__(self, "least", low)

    @property
    def separates(self) -> bool:
        return self.least > 0.0

    @cached_property
    def losses(self) -> Floats:
        """The hinge loss of every round."""
        return hinge_losses(self.rows.examples, self.weights)

    def lossless(self) -> "ComparatorQuantities":
        """The same separator, so long that its smallest margin is 1."""
        return ComparatorQuantities(self.name, self.weights / self.least, self.rows)

    def fill(self, needs: Sequence[str], p: Any, play: Play) -> dict[str, float] | None:
        """The quantities of a bound; None where one cannot be computed for this comparator."""
        power = float(getattr(p, "p", 2.0))
        found: dict[str, float] = {}
        for name in needs:
            value = self.rows.quantities.get(name)
            value = self.quantity(name, power) if value is None else value
            value = play.quantity(name, self.weights, self.losses, p) if value is None else value
            if name == "initial_norm" and getattr(p, "random_start", 0.0) > 0.0:
                value = None
            if value is None or math.isnan(value):
                return None
            found[name] = value
        return found

    def quantity(self, name: str, power: float) -> float | None:
        """One quantity of the comparator; None where it has none of this name."""
        u, Z = self.weights, self.rows.examples.Z
        dual = power / (power - 1.0) if power > 1.0 else math.inf
        if name in ("norm", "norm_1", "norm_inf", "norm_q"):
            return vector_norm(u, {"norm": 2.0, "norm_1": 1.0, "norm_inf": math.inf, "norm_q": dual}[name])
        if name in ("margin", "margin_1", "margin_q"):
            return self.least / vector_norm(u, {"margin": 2.0, "margin_1": 1.0, "margin_q": dual}[name])
        if name == "relative_margin":
            return self.relative_margin(power, dual)
        if name == "radius_p":
            return float(row_norms(Z, power).max())
        if name == "comparator_loss":
            return float(self.losses.sum())
        return float(self.losses @ self.losses) if name == "comparator_squares" else None

    def relative_margin(self, power: float, dual: float) -> float:
        """min u.z / (|u|_q |z|_p), less what rounding may have added."""
        Z, u = self.rows.examples.Z, self.weights
        shares = (Z @ u) / row_norms(Z, power)
        rounding = 4.0 * len(u) * 2.0**-53
        return float(shares.min()) / vector_norm(u, dual) * (1.0 - rounding) - rounding


def vector_norm(u: Floats, power: float) -> float:
    return float(np.linalg.norm(u, power))


def row_norms(Z: Any, power: float) -> Floats:
    """The p-norm of every row of a sparse matrix."""
    values = abs(Z)
    if math.isinf(power):
        return np.asarray(values.max(axis=1).todense()).ravel()
    return np.asarray(values.power(power).sum(axis=1)).ravel() ** (1.0 / power)


# ---- the bound of a learner ------------------------------------------------------------------------------------------


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


def smallest_bound(
    card: Card, options: Mapping[str, Any], comparators: Iterable[ComparatorQuantities], play: Play
) -> tuple[Guarantee, float, str]:
    """The theorem with the smallest bound, that bound, and the comparator; an error says why there is none."""
    p = card.in_force(options)[0]
    usable = [one for one in card.guarantees_for(options) if is_usable(one)]
    if not usable:
        raise BadValue(why_none(card, options))
    found: tuple[Guarantee, float, str] | None = None
    separated = False
    for comparator in comparators:
        separated = separated or comparator.separates
        for guarantee in usable:
            if guarantee.comparator in OF_SEPARATORS and not comparator.separates:
                continue
            own = comparator.lossless() if guarantee.comparator == "lossless" else comparator
            quantities = own.fill(guarantee.needs, p, play)
            if quantities is None:
                continue
            value = guarantee.evaluate(p, quantities)
            if found is None or value < found[1]:
                found = guarantee, value, comparator.name
    if found is None:
        raise BadValue(why_not_here(usable, separated))
    if math.isinf(found[1]):
        raise BadValue("its theorem says nothing about these rows: a condition on them does not hold")
    return found


def why_none(card: Card, options: Mapping[str, Any]) -> str:
    """Why no theorem of a card bounds mistakes for these options."""
    reason = card.why_no_guarantee(options)
    if reason is not None:
        return reason
    bounded = ", ".join(dict.fromkeys(one.bounds for one in card.guarantees_for(options)))
    return f"its theorem is about another quantity: {bounded}"


def why_not_here(usable: Sequence[Guarantee], separated: bool) -> str:
    """Why none of these theorems can be evaluated."""
    if not separated and all(one.comparator in OF_SEPARATORS for one in usable):
        return "its theorem needs separable rows"
    played = [name for one in usable for name in one.needs if QUANTITIES[name].source in ("play", "update")]
    return f"its bound needs {QUANTITIES[played[0]].about}" if played else "its bound cannot be evaluated here"
