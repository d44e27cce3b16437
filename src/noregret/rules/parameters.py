"""What a rule, or a task, takes: numbers with limits, named options; and what a card says of theorems and merging."""

import difflib
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from noregret.errors import BadValue
from noregret.rules.losses import Loss


@dataclass(frozen=True)
class Param:
    """A number a rule takes, with its limits."""

    default: float
    above: float = -math.inf
    at_least: float = -math.inf
    below: float = math.inf
    at_most: float = math.inf
    about: str = ""

    @property
    def limits(self) -> str:
        told = [
            (self.above, f"above {self.above:g}"),
            (self.at_least, f"at least {self.at_least:g}"),
            (self.below, f"below {self.below:g}"),
            (self.at_most, f"at most {self.at_most:g}"),
        ]
        return " and ".join(text for bound, text in told if math.isfinite(bound)) or "any finite number"

    def between(self, share: float) -> float:
        """The default, or a number on the way to it from its lower limit, where there is one."""
        lowest = max(self.above, self.at_least)
        return lowest + share * (self.default - lowest) if math.isfinite(lowest) and share < 1.0 else self.default

    def check(self, owner: str, name: str, given: Any) -> float:
        """The value as a float, or an error that names the parameter and its limits."""
        kind = getattr(given, "dtype", None)
        number = isinstance(given, (int, float)) if kind is None else kind.kind in "fiu" and given.shape == ()
        if not number or isinstance(given, bool):
            raise BadValue(f"{owner}: {name} must be a number {self.limits}, not {given!r}")
        try:
            value = float(given)
        except OverflowError:
            value = math.inf
        if not math.isfinite(value) or not (self.above < value < self.below and self.at_least <= value <= self.at_most):
            raise BadValue(f"{owner}: {name} must be {self.limits}, not {given!r}")
        return value


@dataclass(frozen=True)
class Choice:
    """A named option of a rule, bound into its loop when the learner is made."""

    default: str
    among: Mapping[str, Any]
    about: str = ""
    binds: str = ""  # the name that stands for it in the rule's text, if not its own

    @property
    def limits(self) -> str:
        return "one of " + ", ".join(self.among)

    def check(self, owner: str, name: str, given: Any) -> str:
        if isinstance(given, bool) and {"yes", "no"} == set(self.among):
            return "yes" if given else "no"
        if not isinstance(given, str) or given not in self.among:
            raise BadValue(f"{owner}: {name} must be {self.limits}, not {given!r}{suggestion(given, self.among)}")
        return given


def bindings(choices: Mapping[str, Choice], chosen: Mapping[str, str]) -> dict[str, Any]:
    """What the options of a rule, or of a task, stand for in its text."""
    bound: dict[str, Any] = {}
    for name, option in choices.items():
        thing = option.among[chosen[name]]
        bound[option.binds or name] = thing.slope if isinstance(thing, Loss) else thing
    return bound


def suggestion(given: object, known: Any) -> str:
    close = difflib.get_close_matches(str(given), list(known), n=1)
    return f"; did you mean {close[0]!r}?" if close else ""


@dataclass(frozen=True)
class Guarantee:
    """A theorem: what it says, when it holds, and the bound as a function a test can call."""

    says: str
    when: str
    bound: Callable[..., float]


@dataclass(frozen=True)
class Merge:
    """What merging two learners of this rule keeps: law is exact, bounded, heuristic or none; how is told in words."""

    law: str
    how: str
    by: str = "none"


NO_MERGE = Merge("none", "the state depends on the order of the rounds; it cannot be merged")
