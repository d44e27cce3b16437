"""Cards of portfolio strategies: how the portfolio of the next day follows from the days before it.

    @portfolio_strategy(paper="...", params={"eta": Param(...)}, arrays={"sums": per_stock(0.0)})
    def eg_portfolio(p, s, x, growth):
        \"\"\"Move wealth to the stocks that grew, by an exponential factor.\"\"\"

declares a strategy in one file. The function learns from a day: x are the price relatives of the stocks (the price of
today over that of yesterday), s.b is the portfolio that was held, `growth` is s.b . x; it writes the portfolio of the
next day into s.b. It is a plain function over arrays, which is compiled. s.n.t is the number of days before this one.
"""

import inspect
from collections import namedtuple
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Required, TypedDict, Unpack

from noregret.cached_property import cached_property
from noregret.errors import BadValue
from noregret.rules.guarantee import Guarantee, check_guarantees
from noregret.rules.method_card import MethodCard, place_of
from noregret.rules.parameters import Choice, Param, suggestion
from noregret.rules.registry import REGISTRY, load_package, register, title_of

Text = Callable[..., Any]
Shape = tuple[int, ...]
ARRAYS = ("b", "held")  # the portfolio of the next day; what it has become at the end of the last one
COUNTERS = {"t": 0.0, "log_wealth": 0.0, "turnover": 0.0, "least": 1.0, "cost": 0.0}  # in every state


@dataclass(frozen=True)
class Whole(Param):
    """A whole number."""

    def check(self, owner: str, name: str, given: Any) -> float:
        value = super().check(owner, name, given)
        if not value.is_integer():
            raise BadValue(f"{owner}: {name} must be a whole number {self.limits}, not {given!r}")
        return value


class Array(NamedTuple):
    """An array of the state."""

    shape: Callable[[int, int, Mapping[str, Any]], Shape]  # (stocks, days, params)
    start: float = 0.0
    fill: Callable[..., None] | None = None  # (array, params, seed): the first values, where they are not all the same
    fixed: bool = False  # never changed by a round, so copies of a state share it
    scratch: bool = False  # holds nothing between rounds, and is not saved


def per_stock(start: float) -> Array:
    """A number for each stock."""
    return Array(lambda stocks, days, params: (stocks,), start)


def square(scratch: bool = False, identity: bool = False) -> Array:
    """A matrix with a row and a column for each stock."""

    def set_identity(array: Any, params: Mapping[str, Any], seed: int) -> None:
        array[range(len(array)), range(len(array))] = 1.0

    shape: Callable[[int, int, Mapping[str, Any]], Shape] = lambda stocks, days, params: (stocks, stocks)  # noqa: E731
    return Array(shape, fill=set_identity if identity else None, scratch=scratch)


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class PortfolioCard(MethodCard):
    """The declaration of a portfolio strategy."""

    learn: Text  # (p, s, x, growth): learn from a day
    arrays: Mapping[str, Array] = field(default_factory=dict)
    counters: Mapping[str, float] = field(default_factory=dict)
    find_problem: Text | None = None  # (s): what is wrong with arrays read from a file, or None
    begin: Text | None = None  # (s): set the portfolio of the first day, where it is not uniform
    derive: Text | None = None  # (s): set fixed arrays that follow from others
    takes_portfolio: bool = False  # whether the portfolio of the first day may be given
    takes_points: bool = False  # whether it averages over portfolios that may be given
    exact: Text | None = None  # (stocks, state): whether the theorem holds, where it is about some states only

    @property
    def rule(self) -> Text:
        """The function that learns, by the name it has on cards of rules."""
        return self.learn

    @cached_property
    def state_class(self) -> Any:
        """The class of s: arrays by name, and the record of counters n."""
        return namedtuple(f"{self.name}_state", [*ARRAYS, *self.arrays, "n"])

    @cached_property
    def all_counters(self) -> dict[str, float]:
        """The counters with their first values."""
        return {**COUNTERS, **self.counters}


class Declared(TypedDict, total=False):
    """What a portfolio strategy declares."""

    paper: Required[str]
    title: str
    params: Mapping[str, Param | Choice]
    guarantees: tuple[Guarantee, ...]
    arrays: Mapping[str, Array]
    counters: Mapping[str, float]
    find_problem: Text
    begin: Text
    derive: Text
    takes_portfolio: bool
    takes_points: bool
    exact: Text


def portfolio_strategy(**declared: Unpack[Declared]) -> Callable[[Text], PortfolioCard]:
    """Declare a portfolio strategy by the function that learns from a day; the result is its card."""

    def decorate(learn: Text) -> PortfolioCard:
        name, where = learn.__name__, place_of(learn)
        choices = {key: one.among for key, one in declared.get("params", {}).items() if isinstance(one, Choice)}
        check_guarantees(f"{where}: {name}", declared.get("guarantees", ()), choices)
        given: dict[str, Any] = {"title": title_of(name), **declared}

        def build_learner(**options: Any) -> Any:
            from noregret.experts.portfolio.portfolio_learner import PortfolioLearner

            own = {key: options.pop(key) for key in list(options) if key in card.params}
            return PortfolioLearner(card, own, **options)

        extra = [("portfolio", declared.get("takes_portfolio")), ("points", declared.get("takes_points"))]
        card = PortfolioCard(
            **given,
            factory=build_learner,
            options=("names", "cost", "seed", "native", *(option for option, takes in extra if takes)),
            name=name,
            kind="portfolio",
            about=inspect.cleandoc(learn.__doc__ or "").partition("\n")[0],
            module=learn.__module__,
            where=where,
            declared_tasks=("experts",),
            learn=learn,
        )
        register(card)
        return card

    return decorate


def find_strategy(given: Any) -> PortfolioCard:
    """The card of a portfolio strategy, by name or as it is."""
    known = list_strategies()
    card = known.get(given) if isinstance(given, str) else given
    if not isinstance(card, PortfolioCard):
        raise BadValue(f"there is no portfolio strategy {given!r}{suggestion(given, known)}; there are "
                       f"{', '.join(known)}")  # fmt: skip
    return card


def list_strategies() -> dict[str, PortfolioCard]:
    """The cards of all portfolio strategies by name, users' own included."""
    load_package("noregret.experts.portfolio")
    return {name: card for name, card in sorted(REGISTRY.items()) if isinstance(card, PortfolioCard)}
