"""Guarantees: a theorem as a function of the parameters in force and of quantities that a metric can fill in."""

import inspect
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, cast

from noregret.cached_property import cached_property
from noregret.errors import BadValue
from noregret.rules.quantities import QUANTITIES, QuantityName

Bounded: TypeAlias = Literal[
    "mistakes", "expected mistakes", "updates", "squared loss", "squared loss on updates", "squared errors",
    "normalised squared errors", "regret", "regularised regret", "expected regret", "linear regret on updates",
    "excess squared errors", "sum of steps", "margin after the update", "loss after the update",
    "divergence plus loss of the update", "norm of the weights", "expected loss",
]  # fmt: skip
Comparator: TypeAlias = Literal[
    "none", "any", "separating", "lossless", "simplex", "l1 ball", "disjunction", "concept", "in set"
]
Relation: TypeAlias = Literal["at most", "below", "equal"]
Condition: TypeAlias = Callable[[Any], str | None]
DEFAULT_COVARIANCE = "diagonal"
OF_ONE_UPDATE = ("margin after the update", "loss after the update", "divergence plus loss of the update")


def over(a: float, b: float) -> float:
    """a / b, or infinity where b is 0: a rate that follows the rows is not what the theorem is about."""
    return a / b if b != 0.0 else math.inf


@dataclass(frozen=True, eq=False)
class Guarantee:
    """A theorem about a learner.

    bound(p, ...) takes the parameters in force and, by name, quantities of `QUANTITIES`. It holds for the options given
    in `options` (any other option may be anything) and for parameters that `requires` finds nothing wrong with.
    """

    bounds: Bounded
    says: str
    when: str
    bound: Callable[..., float]
    options: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    requires: Condition | None = None
    comparator: Comparator = "any"
    relation: Relation = "at most"
    any_start: bool = False  # whether it also holds from random initial weights
    assumes: str | None = None  # a condition that cannot be checked from the rows, the parameters and the options

    @cached_property
    def needs(self) -> tuple[QuantityName, ...]:
        """The quantities that the bound is a function of."""
        return cast(tuple[QuantityName, ...], tuple(inspect.signature(self.bound).parameters)[1:])

    def why_not(self, p: Any, chosen: Mapping[str, object]) -> str | None:
        """Why the theorem does not hold for these parameters and options, or None if it does."""
        for name, among in self.options.items():
            if chosen.get(name) not in among:
                return f"it is proved for {name}={' or '.join(among)}, not for {name}={chosen.get(name)}"
        if getattr(p, "random_start", 0.0) > 0.0 and not self.any_start and self.bounds not in OF_ONE_UPDATE:
            return "it is proved for random_start = 0"
        return None if self.requires is None else self.requires(p)

    def evaluate(self, p: Any, quantities: Mapping[str, float]) -> float:
        """The bound for these parameters; every quantity it needs must be given."""
        missing = [name for name in self.needs if name not in quantities]
        if missing:
            raise BadValue(f"the bound needs {', '.join(missing)}: {QUANTITIES[missing[0]].about}")
        return float(self.bound(p, **{name: float(quantities[name]) for name in self.needs}))

    @property
    def condition(self) -> str:
        """When the theorem holds, options included."""
        options = "; ".join(f"{name} = {' or '.join(among)}" for name, among in self.options.items())
        return f"{options}; {self.when}" if options else self.when


def check_guarantees(who: str, guarantees: Iterable[Guarantee], choices: Mapping[str, Iterable[str]]) -> None:
    """A bound takes p and quantities of the vocabulary, and its options are among those of the card."""
    for guarantee in guarantees:
        if not isinstance(guarantee, Guarantee):
            raise BadValue(f"{who}: a guarantee must be a noregret.Guarantee, not {guarantee!r}")
        first, *needs = inspect.signature(guarantee.bound).parameters or ("",)
        if first != "p":
            raise BadValue(f"{who}: a bound takes p, the parameters in force, as its first argument, not {first!r}")
        for name in needs:
            if name not in QUANTITIES:
                raise BadValue(f"{who}: its bound needs {name!r}, which is not one of noregret.QUANTITIES")
        for name, among in guarantee.options.items():
            known = choices.get(name, ())
            wrong = [one for one in among if one not in known]
            if wrong or isinstance(among, str):
                raise BadValue(f"{who}: its guarantee is for {name}={among!r}, which is not an option of the method")
