"""The search space of a learner: the parameters to search, each with values or a range."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, product
from types import FunctionType
from typing import Any

import numpy as np

from noregret.errors import BadValue, shown
from noregret.rules.card import Card
from noregret.rules.names import SCALES
from noregret.rules.parameters import Choice, Param, bindings
from noregret.rules.rule_card import RuleCard

VALUES = {1: 7, 2: 5}  # of a range in a grid, by the number of parameters
FEW = 4  # of a range in a grid of more parameters
SHARE = 0.25  # of the random points that take a default below the range, such as a rate that follows the rows


@dataclass(frozen=True)
class Axis:
    """One parameter to search: values to try, or a range, whose `span` is a Param with a search range."""

    name: str
    values: tuple[Any, ...] = ()
    span: Param | None = None

    def grid(self, count: int) -> tuple[Any, ...]:
        """The values, or so many of them, evenly spaced over the range; a default below the range comes in addition."""
        if self.span is None:
            return self.values
        return tuple(round_inside(value, self.span) for value in self.span.candidates(count))

    def draw(self, random: np.random.Generator) -> Any:
        """A random value: uniform over the values, or over the range on its scale."""
        if self.span is None or self.span.search is None:
            return self.values[int(random.integers(len(self.values)))]
        lowest, highest, scale = self.span.search
        share, other = random.random(2)
        if self.span.default < lowest and other < SHARE:
            return self.span.default
        if scale == "log":
            return round_inside(math.exp(math.log(lowest) + share * math.log(highest / lowest)), self.span)
        return round_inside(lowest + share * (highest - lowest), self.span)


def round_inside(value: float, span: Param) -> float:
    """A number with four digits, where that stays in the range; its ends are exact."""
    assert span.search is not None
    lowest, highest, _ = span.search
    rounded = float(f"{value:.4g}")
    if min(abs(value - lowest), abs(value - highest)) <= 1e-9 * abs(value):
        return lowest if abs(value - lowest) < abs(value - highest) else highest
    return rounded if lowest <= rounded <= highest else value


def make_points(axes: Sequence[Axis], most: int, seed: int) -> list[dict[str, Any]]:
    """The points to try: the whole grid where it has at most so many points, else as many random points.

    Of a single range it is a coarser grid instead.
    """
    if not axes or most < 1:
        return []
    count = VALUES.get(len(axes), FEW)
    grids = [axis.grid(count) for axis in axes]
    if math.prod(map(len, grids)) <= most:
        return [dict(zip((axis.name for axis in axes), point, strict=True)) for point in product(*grids)]
    if len(axes) == 1 and axes[0].span is not None:
        extra = len(grids[0]) - count  # a default below the range
        return [{axes[0].name: value} for value in axes[0].grid(max(most - extra, 1))]
    random = np.random.default_rng(seed)
    return list(islice(draw_points(axes, random), most))


def draw_points(axes: Sequence[Axis], random: np.random.Generator) -> Iterator[dict[str, Any]]:
    """Different random points, until it takes too many draws to find another."""
    seen: set[str] = set()
    misses = 0
    while misses < 1000:
        point = {axis.name: axis.draw(random) for axis in axes}
        if repr(point) in seen:
            misses += 1
            continue
        seen.add(repr(point))
        yield point


# ---- from a card ----------------------------------------------------------------------------------------------------


def card_axes(card: Card, fixed: Mapping[str, Any]) -> list[Axis]:
    """What a card says is worth searching: its numbers, or its named options where it has no numbers to search.

    Left out are parameters that are fixed, and those that only other options read.
    """
    chosen = {name: str(fixed.get(name, default)) for name, default in card.defaults.items()}
    numbers = [
        card_axis(card, name, param)
        for name, param in card.numbers.items()
        if name not in fixed and (param.search or param.grid) and is_read(card, name, chosen)
    ]
    if numbers:
        return numbers
    return [card_axis(card, name, choice) for name, choice in card.choices.items()
            if name not in fixed and len(choice.candidates()) > 1]  # fmt: skip


def card_axis(card: Card, name: str, param: object) -> Axis:
    """The search space of one parameter, as the card has it."""
    if isinstance(param, Param) and param.search is not None:
        return Axis(name, span=param)
    values = param.candidates() if isinstance(param, (Param, Choice)) else ()
    if not values:
        why = getattr(param, "untuned", "") or "its card has no range for it"
        raise BadValue(f"{card.name}: {name} has no search range: {why}; name the values to try")
    return Axis(name, tuple(values))


def is_read(card: Card, name: str, chosen: Mapping[str, str]) -> bool:
    """Whether a number matters with these options: another option may be the only one that reads it."""
    if not isinstance(card, RuleCard) or any(option not in card.choices[one].among for one, option in chosen.items()):
        return True
    if name in find_attributes(card, chosen):
        return True
    others = [{**chosen, one: option} for one, choice in card.choices.items() for option in choice.among]
    return not any(name in find_attributes(card, other) for other in others)


def find_attributes(card: RuleCard, chosen: Mapping[str, str]) -> set[str]:
    """The names that the functions of a rule with some options use, also through functions they call."""
    bound = {choice.binds or name for name, choice in card.choices.items()}
    waiting: list[Any] = [*card.functions(), *bindings(card.choices, chosen).values()]
    found: set[str] = set()
    seen: set[Any] = set()
    while waiting:
        function = waiting.pop()
        code = getattr(function, "__code__", None)
        if code is None or code in seen:
            continue
        seen.add(code)
        found |= set(code.co_names)
        called = [function.__globals__.get(name) for name in code.co_names if name not in bound]
        waiting += [one for one in called if isinstance(one, FunctionType)]
    return found


def why_nothing(card: Card) -> str:
    """Why a card has nothing to search, in words."""
    reasons = [f"{name}: {param.untuned}" for name, param in card.numbers.items() if param.untuned]
    if not reasons:
        return f"{card.name} has no parameters to tune"
    return f"{card.name} has nothing to tune by its card ({'; '.join(reasons)}); name the values to try"


# ---- from the user --------------------------------------------------------------------------------------------------


def user_axis(card: Card, name: str, given: object) -> Axis:
    """A parameter as the user wants it searched: a list of values, or a range (lowest, highest, "log" or "linear").

    Without either, as the card has it.
    """
    param = card.params.get(name)
    if given is None:
        if param is None:
            raise BadValue(f"{card.name}: {name} is not on its card; name the values to try")
        return card_axis(card, name, param)
    if isinstance(given, tuple) and len(given) == 3 and isinstance(given[2], str) and not isinstance(param, Choice):
        return range_axis(card, name, given)
    if not isinstance(given, (list, tuple, np.ndarray)) or not len(given):
        form = 'a list of values, or a range (lowest, highest, "log")'
        raise BadValue(f"{card.name}: the search space of {name} must be {form}, not {shown(given)}")
    values = [value.item() if isinstance(value, np.generic) else value for value in given]
    if param is not None:
        for value in values:
            param.check(card.name, name, value)
    return Axis(name, tuple({repr(value): value for value in values}.values()))


def range_axis(card: Card, name: str, given: tuple[Any, Any, Any]) -> Axis:
    """A range of the user's, checked against the limits of the parameter."""
    lowest, highest, scale = given
    param = card.params.get(name)
    limits = param if isinstance(param, Param) else Param(0.0)
    ends = [limits.check(card.name, name, end) for end in (lowest, highest)]
    if scale not in SCALES or not ends[0] < ends[1] or (scale == "log" and ends[0] <= 0.0):
        raise BadValue(
            f'{card.name}: the range of {name} must be (lowest, highest, "log" or "linear"), and above 0 for "log", '
            f"not {shown(given)}"
        )
    return Axis(name, span=Param(ends[0], search=(ends[0], ends[1], scale)))
