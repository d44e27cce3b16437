"""What a method or a task takes: numbers with limits, named options, and other learners."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from noregret.errors import BadValue, find_closest, shown
from noregret.rules.losses import Loss
from noregret.rules.names import SCALES, Scale
from noregret.rules.own_functions import Own, OwnFunction, check_own_function
from noregret.state.fields import Field


@dataclass(frozen=True)
class Param:
    """A number, with its default and limits, and where to search for a better value.

    The search space is a range (lowest, highest, "log" or "linear"), or a grid of values; `untuned` says why there is
    none where a search makes no sense. `measured` is the default where scores are measured in units of the task, as in
    regression; `default` is that of all other tasks, where only signs or the order of scores decide. A default below
    the range, such as a 0 that stands for a value that follows the rows, is searched in addition. `per_size` makes 0
    stand for that number over S, the size of the rows (`row_size.py`): a margin rule gets the quotient. `earlier` is
    the default of model files that do not tell theirs, where it was another than `default`.
    """

    default: float
    above: float = -math.inf
    at_least: float = -math.inf
    below: float = math.inf
    at_most: float = math.inf
    about: str = ""
    search: tuple[float, float, Scale] | None = None
    grid: tuple[float, ...] = ()
    untuned: str = ""
    measured: float | None = None
    earlier: float | None = None
    per_size: float | None = None

    def __post_init__(self) -> None:
        if (self.search is not None) + bool(self.grid) + bool(self.untuned) > 1:
            raise BadValue("a Param has a search range, a grid, or a reason to have neither")
        if self.search is not None:
            lowest, highest, scale = self.search
            if not lowest < highest or scale not in SCALES or (scale == "log" and lowest <= 0.0):
                raise BadValue(f"a search range is (lowest, highest, 'log' or 'linear'), not {self.search!r}")
        if self.measured is not None and not self.allows(self.measured):
            raise BadValue(f"the default of measured scores is {self.measured:g}, but it must be {self.limits}")
        for value in self.grid if self.search is None else self.search[:2]:
            if not self.allows(value):
                raise BadValue(f"the search space contains {value:g}, but the parameter must be {self.limits}")

    def candidates(self, count: int = 5) -> tuple[float, ...]:
        """Values worth trying: the grid, or as many as asked for, evenly spaced over the search range.

        A default below the range comes first.
        """
        if self.search is None:
            return self.grid
        lowest, highest, scale = self.search
        shares = [step / (count - 1) for step in range(count)] if count > 1 else [0.5]
        below = (self.default,) if self.default < lowest else ()
        if scale == "log":
            return (*below, *(float(lowest * (highest / lowest) ** share) for share in shares))
        return (*below, *(lowest + (highest - lowest) * share for share in shares))

    def allows(self, value: float) -> bool:
        """Whether a number is finite and within the limits."""
        inside = self.above < value < self.below and self.at_least <= value <= self.at_most
        return math.isfinite(value) and inside

    @property
    def default_text(self) -> str:
        if self.measured is None:
            return f"{self.default:g}"
        where = "regression" if self.per_size is None else "regression, structured output"
        return f"{self.default:g} ({where}: {self.measured:g})"

    def default_where(self, measured: bool) -> float:
        """The default of a task, by whether scores are measured in units of the task."""
        return self.default if self.measured is None or not measured else self.measured

    def earlier_where(self, measured: bool) -> float:
        """The default of a task in model files that do not tell theirs."""
        if self.earlier is None or (measured and self.measured is not None):
            return self.default_where(measured)
        return self.earlier

    @property
    def search_text(self) -> str:
        """The search space in words; empty where there is none."""
        if self.search is None:
            return ", ".join(f"{value:g}" for value in self.grid)
        below = f"{self.default:g}, and " if self.default < self.search[0] else ""
        return f"{below}{self.search[0]:g} to {self.search[1]:g} ({self.search[2]})"

    @property
    def limits(self) -> str:
        declared = [
            (self.above, f"above {self.above:g}"),
            (self.at_least, f"at least {self.at_least:g}"),
            (self.below, f"below {self.below:g}"),
            (self.at_most, f"at most {self.at_most:g}"),
        ]
        return " and ".join(text for bound, text in declared if math.isfinite(bound)) or "any finite number"

    def between(self, share: float) -> float:
        """The default, or a number on the way to it from the lower limit, where there is one."""
        lowest = max(self.above, self.at_least)
        return lowest + share * (self.default - lowest) if math.isfinite(lowest) and share < 1.0 else self.default

    def check(self, owner: str, name: str, given: Any) -> float:
        """The value as a float, or an error that names the parameter and its limits."""
        kind = getattr(given, "dtype", None)
        number = isinstance(given, (int, float)) if kind is None else kind.kind in "fiu" and given.shape == ()
        if not number or isinstance(given, bool):
            raise BadValue(f"{owner}: {name} must be a number {self.limits}, not {shown(given)}")
        try:
            value = float(given)
        except OverflowError:
            value = math.inf
        if not self.allows(value):
            raise BadValue(f"{owner}: {name} must be {self.limits}, not {shown(given)}")
        return value


@dataclass(frozen=True)
class Choice:
    """A named option; for a rule, what it stands for is bound into its code when the learner is made."""

    default: str
    among: Mapping[str, Any]
    about: str = ""
    binds: str = ""  # the global name in the rule's code that the option replaces, if not its own
    search: tuple[str, ...] = ()  # the options worth trying; all where none are named
    reads: Mapping[str, Param] = field(default_factory=dict)  # numbers of p that the options read; a rule gets them all
    own: Own | None = None  # how it can be a function of the caller
    fields: Mapping[str, Mapping[str, Field]] = field(default_factory=dict)  # of the state, that only some options need

    def candidates(self) -> tuple[str, ...]:
        """The options worth trying."""
        return self.search or tuple(self.among)

    @property
    def default_text(self) -> str:
        return self.default

    @property
    def search_text(self) -> str:
        """The options worth trying, where these are several and not all."""
        return ", ".join(self.search) if len(self.search) > 1 else ""

    @property
    def limits(self) -> str:
        return "one of " + ", ".join(self.among) + ("" if self.own is None else f", or {self.own.text}")

    def check(self, owner: str, name: str, given: Any) -> str:
        if self.own is not None and callable(getattr(given, "function", given)):
            return check_own_function(f"{owner}: {name}", self.own, self.among, given)
        if isinstance(given, bool) and {"yes", "no"} == set(self.among):
            return "yes" if given else "no"
        if not isinstance(given, str) or given not in self.among:
            raise BadValue(f"{owner}: {name} must be {self.limits}, not {given!r}{suggestion(given, self.among)}")
        return given


@dataclass(frozen=True)
class Component:
    """Another learner that a method is built from: by name, as a card, or as a learner; or a list of these."""

    default: str | tuple[str, ...]
    about: str = ""
    many: bool = False

    @property
    def default_text(self) -> str:
        return self.default if isinstance(self.default, str) else ", ".join(self.default)

    @property
    def search_text(self) -> str:
        return ""

    @property
    def limits(self) -> str:
        return "a list of learners" if self.many else "a learner, or the name of one"

    def check(self, owner: str, name: str, given: Any) -> Any:
        """The learner as it was given; names and cards are left for the method to make learners of."""
        several = isinstance(given, (list, tuple))
        parts = list(given) if several else [given]
        if several != self.many or not parts or not all(isinstance(part, str) or _has_card(part) for part in parts):
            raise BadValue(f"{owner}: {name} must be {self.limits}, not {shown(given)}")
        return tuple(parts) if self.many else given


def _has_card(thing: object) -> bool:
    """Whether a thing is a card or a learner: a card has parameters, and a learner has a card."""
    return hasattr(getattr(thing, "card", thing), "params")


Parameter: TypeAlias = Param | Choice | Component


def bindings(choices: Mapping[str, Choice], chosen: Mapping[str, str]) -> dict[str, Any]:
    """What the options of a rule, or of a task, replace in its code."""
    bound: dict[str, Any] = {}
    for name, choice in choices.items():
        option = chosen[name]
        if isinstance(option, OwnFunction) and choice.own is not None:
            thing: Any = choice.own.through or option.function
            bound |= {choice.own.binds: option.function} if choice.own.binds else {}
        else:
            thing = choice.among[option]
        bound[choice.binds or name] = thing.slope if isinstance(thing, Loss) else thing
    return bound


OTHER_NAMES: Mapping[str, tuple[str, ...]] = {
    "n_components": ("rank", "k"), "n_clusters": ("k",), "n_topics": ("k",), "num_topics": ("k",), "n_factors": ("k",),
    "n_atoms": ("k",), "random_state": ("seed",), "batch_size": ("batch",), "chunksize": ("batch",),
    "learning_rate": ("eta", "eta0", "rho"), "learning_offset": ("tau0", "tau"), "learning_decay": ("kappa",),
    "total_samples": ("documents",), "covariance_type": ("shape",), "max_iter": ("iterations", "sweeps"),
    "tol": ("tolerance",), "doc_topic_prior": ("alpha",), "topic_word_prior": ("eta",), "bias": (),
}  # fmt: skip
"""Names of parameters in other libraries, and here; nothing that sounds alike is meant by them."""


def suggestion(given: object, known: Iterable[str]) -> str:
    """What may have been meant, in words; nothing where no name is close. Capital letters make no difference."""
    names = list(known)
    if isinstance(given, str) and given in OTHER_NAMES:
        close = next((name for name in OTHER_NAMES[given] if name in names), None)
    else:
        close = find_closest(given, names)
    return "" if close is None else f"; did you mean {close!r}?"
