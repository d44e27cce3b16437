"""Portfolio strategies side by side over the same days: wealth, growth, risk, and regret to the best in hindsight."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.errors import BadValue, shown
from noregret.evaluation.tables import table
from noregret.experts.expert_rows import Name
from noregret.experts.portfolio.card import PortfolioCard, find_strategy, list_strategies
from noregret.experts.portfolio.hindsight import Hindsight, best_constant_portfolio, best_stock
from noregret.experts.portfolio.portfolio_learner import PortfolioLearner, exponential
from noregret.experts.portfolio.relatives import read_relatives, to_relatives
from noregret.learner.variants import Variant, as_variant, write

Floats = NDArray[np.float64]
HINDSIGHT: dict[str, Callable[[Any], Hindsight]] = {"best_stock": best_stock, "bcrp": best_constant_portfolio}
ALL = (
    "buy_and_hold", "crp", "universal", "eg_portfolio", "ons", "pamr", "pamr(variant=1)", "pamr(variant=2)", "olmar",
    "olmar(variant=2)", *HINDSIGHT,
)  # fmt: skip
DAYS_PER_YEAR = 252


@dataclass(frozen=True)
class PortfolioResult:
    """What became of 1 under a strategy; `hindsight` marks a portfolio that was chosen knowing all days."""

    name: str
    learner: PortfolioLearner
    log_growth: Floats  # of every day, costs included
    hindsight: Hindsight | None = None

    @property
    def curve(self) -> Floats:
        """The wealth after every day."""
        with np.errstate(over="ignore"):
            return np.exp(np.cumsum(self.log_growth))

    @property
    def wealth(self) -> float:
        return exponential(self.learner.log_wealth)

    def growth(self, per_year: float) -> float:
        """The growth of wealth in a year, as a share: 0.1 is 10 %."""
        return exponential(self.learner.log_wealth * per_year / len(self.log_growth)) - 1.0

    def sharpe(self, per_year: float) -> float:
        """The Sharpe ratio of a year, with interest 0: the mean of the daily returns over their deviation."""
        returns = np.expm1(self.log_growth)
        deviation = float(returns.std(ddof=1)) if len(returns) > 1 else 0.0
        if deviation <= 1e-15:
            return math.nan
        return float(returns.mean()) / deviation * math.sqrt(per_year)

    @property
    def drawdown(self) -> float:
        """The largest fall of wealth from a peak, as a share of the peak."""
        logs = np.concatenate([[0.0], np.cumsum(self.log_growth)])
        return -float(np.expm1((logs - np.maximum.accumulate(logs)).min()))


@dataclass(frozen=True)
class PortfolioRace:
    """Strategies that have played the same days. Those chosen in hindsight are kept apart in every report."""

    names: list[Name]
    results: dict[str, PortfolioResult]
    best: PortfolioResult  # the best constant rebalanced portfolio, which regret is measured against
    cost: float
    per_year: float
    days: list[str] | None = None  # a label of each day, where there are any

    @property
    def rounds(self) -> int:
        return len(self.best.log_growth)

    @property
    def wealth(self) -> dict[str, float]:
        """The final wealth of every strategy."""
        return {name: one.wealth for name, one in self.results.items()}

    @property
    def curve(self) -> dict[str, Floats]:
        """The wealth of every strategy after each day."""
        return {name: one.curve for name, one in self.results.items()}

    def regret(self, name: str) -> float:
        """ln wealth of the best constant rebalanced portfolio less ln wealth of a strategy."""
        return self.best.learner.log_wealth - self.results[name].learner.log_wealth

    def report(self) -> dict[str, Any]:
        """All of it, for JSON."""
        return {
            "stocks": self.names,
            "rounds": self.rounds,
            "cost": self.cost,
            "days_per_year": self.per_year,
            "wealth": self.wealth,
            "hindsight": [name for name, one in self.results.items() if one.hindsight is not None],
            "strategies": [self.report_one(name) for name in self.results],
            "best_constant_portfolio": describe_best(self.best),
            "days": self.days,
            "curve": {name: curve.tolist() for name, curve in self.curve.items()},
        }

    def report_one(self, name: str) -> dict[str, Any]:
        one = self.results[name]
        bound = None if one.hindsight is not None else one.learner.bound()
        sharpe = one.sharpe(self.per_year)
        return {
            "name": name,
            "hindsight": one.hindsight is not None,
            "params": one.learner.params if one.hindsight is None else {},
            "wealth": one.wealth,
            "growth": one.growth(self.per_year),
            "sharpe": None if math.isnan(sharpe) else sharpe,
            "drawdown": one.drawdown,
            "regret": self.regret(name),
            "turnover": one.learner.turnover,
            "bound": None if bound is None else bound._asdict(),
            "portfolio": {str(stock): share for stock, share in one.learner.portfolio.items()},
        }

    def __str__(self) -> str:
        head = ["strategy", "wealth", "growth a year", "Sharpe", "drawdown", "turnover a day", "regret", "bound"]
        online = [name for name, one in self.results.items() if one.hindsight is None]
        known = [name for name in self.results if name not in online]
        lines = []
        if online:
            lines.append(table(head, [self.row(name) for name in sorted(online, key=self.regret)]))
        if known:
            lines += ["", "chosen in hindsight, knowing all days (not strategies):"] if lines else []
            lines.append(table(["hindsight", *head[1:-1]], [self.row(name)[:-1] for name in known]))
        return "\n".join([*lines, "", *self.remarks()])

    def row(self, name: str) -> list[str]:
        one = self.results[name]
        bound, sharpe = one.learner.bound(), one.sharpe(self.per_year)
        about_best = bound is not None and bound.comparator != "the best stock"
        return [
            name,
            format_wealth(one.wealth),
            f"{format_wealth(100 * one.growth(self.per_year))} %",
            "-" if math.isnan(sharpe) else f"{sharpe:.2f}",
            f"{100 * one.drawdown:.1f} %",
            f"{one.learner.turnover / self.rounds:.3f}",
            f"{self.regret(name):.4g}",
            f"{bound.value:.4g}" if bound is not None and about_best else "-",
        ]

    def remarks(self) -> list[str]:
        """What the columns mean, and the best portfolio."""
        best = self.best.hindsight
        assert best is not None
        shares = ", ".join(f"{name} {share:.3f}" for name, share in list(best.shares.items())[:6])
        more = f" and {len(best.shares) - 6} more" if len(best.shares) > 6 else ""
        costs = f"costs of {self.cost:g} included" if self.cost else "no costs"
        return [
            f"{self.rounds:,} days, {len(self.names)} stocks, {costs}; regret: ln wealth of the best constant "
            "rebalanced portfolio (BCRP) less ln wealth",
            f"BCRP: {shares}{more}; duality gap {best.gap:.1g}",
        ]


def describe_best(best: PortfolioResult) -> dict[str, Any]:
    found = best.hindsight
    assert found is not None
    return {
        "portfolio": {str(name): share for name, share in found.shares.items()},
        "wealth_without_costs": found.wealth,
        "gap": found.gap,
    }


def format_wealth(value: float) -> str:
    """Two digits after the point; large and tiny numbers by their power of ten."""
    return f"{value:.2f}" if value == 0.0 or 0.01 <= abs(value) < 1e6 else f"{value:.3g}"


def race_portfolios(
    X: Any,
    strategies: Sequence[Any] | None = None,
    *,
    prices: bool = False,
    cost: float = 0.0,
    days: Sequence[Any] | None = None,
    **options: Any,
) -> PortfolioRace:
    """Play the same days with several portfolio strategies: price relatives X, or prices with prices=True.

    `strategies` are names, as in "pamr(eps=0.9)", or cards; "best_stock" and "bcrp" are portfolios chosen in hindsight,
    and marked so. `cost` is what trading costs, as a share of what is traded; `days` are labels of the days. Other
    options (names, seed, native) go to all strategies; `per_year` is the number of days in a year, and `tell` is called
    with the name of each strategy before it plays.
    """
    per_year = check_per_year(options.pop("per_year", DAYS_PER_YEAR))
    tell = options.pop("tell", lambda name: None)
    given = options.pop("names", None)
    names, relatives = (to_relatives if prices else read_relatives)(X, given)
    if len(relatives) < 2:
        raise BadValue("there is only one day: strategies need price relatives of two days, or prices of three"
                       if len(relatives) else "there are no days to play")  # fmt: skip
    labels = None if days is None else check_days(days, len(relatives), prices)
    learners = make_learners(ALL if strategies is None else strategies, {**options, "cost": cost, "names": names})
    tell("bcrp")
    best = play_hindsight("bcrp", names, relatives, cost)
    results: dict[str, PortfolioResult] = {}
    for name, learner in learners.items():
        if learner is None:
            results[name] = best if name == "bcrp" else play_hindsight(name, names, relatives, cost)
        else:
            tell(name)
            results[name] = PortfolioResult(name, learner, -learner.play(relatives).losses)
    return PortfolioRace(names, results, best, float(cost), per_year, labels)


def make_learners(strategies: Sequence[Any], options: dict[str, Any]) -> dict[str, PortfolioLearner | None]:
    """A learner for every strategy by its name; None for what is chosen in hindsight."""
    made: dict[str, PortfolioLearner | None] = {}
    for one in [strategies] if isinstance(strategies, str) else strategies:
        if isinstance(one, str) and one in HINDSIGHT:
            name, learner = one, None
        else:
            variant = find_variant(one)
            name, learner = write(variant.card, variant.options), variant.card.build(**{**options, **variant.options})  # type: ignore[attr-defined]
        if name in made:
            raise BadValue(f"a strategy is named twice: {name!r}; leave one out, or give it other parameters")
        made[name] = learner
    if not made:
        raise BadValue(f"name at least one strategy of {', '.join(list_names())}")
    return made


def find_variant(given: Any) -> Variant:
    """A strategy with its options, by name or as a card."""
    return as_variant(given, find_card)


def find_card(given: Any) -> PortfolioCard:
    if isinstance(given, str) and given not in list_strategies():
        if given in HINDSIGHT:
            raise BadValue(f"{given} is chosen in hindsight and takes no parameters")
        find_strategy_or_hindsight(given)
    return find_strategy(given)


def find_strategy_or_hindsight(given: str) -> None:
    """Raise the error for a name that is neither."""
    from noregret.rules.parameters import suggestion

    known = list_names()
    raise BadValue(f"there is no portfolio strategy {given!r}{suggestion(given, known)}; there are {', '.join(known)}")


def list_names() -> list[str]:
    """The names of all strategies, and of what is chosen in hindsight."""
    return [*list_strategies(), *HINDSIGHT]


def play_hindsight(name: str, names: list[Name], relatives: Floats, cost: float) -> PortfolioResult:
    """A portfolio chosen in hindsight, rebalanced every day with the costs of all others."""
    found = HINDSIGHT[name](relatives)
    found = found._replace(names=names)
    learner = find_strategy("crp").build(names=names, cost=cost, portfolio=found.portfolio.tolist())
    return PortfolioResult(name, learner, -learner.play(relatives).losses, found)


def check_per_year(given: Any) -> float:
    if isinstance(given, bool) or not isinstance(given, (int, float)) or not 0.0 < given < math.inf:
        raise BadValue(f"per_year must be the number of days in a year, above 0, not {shown(given)}")
    return float(given)


def check_days(days: Sequence[Any], count: int, prices: bool) -> list[str]:
    """Labels of the days; where there are prices, the first of these is a day without a price relative."""
    labels = [str(one) for one in days]
    labels = labels[1:] if prices and len(labels) == count + 1 else labels
    if len(labels) != count:
        raise BadValue(f"there are {count} days and {len(labels)} labels; there must be as many")
    return labels
