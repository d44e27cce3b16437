"""Portfolio strategies as learners: price relatives go in, portfolios come out."""

import math
import time
from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from noregret.data.inputs import LabelsLike, RowLike, RowsLike, WeightsLike
from noregret.data.transcript import Transcript
from noregret.errors import BadValue, NotLearned, shown
from noregret.experts.expert_learner import check_expert_names
from noregret.experts.expert_rows import Name
from noregret.experts.expert_weights import ExpertBound
from noregret.experts.portfolio.card import PortfolioCard
from noregret.experts.portfolio.portfolio_state import SUM, PortfolioState
from noregret.experts.portfolio.relatives import read_relatives
from noregret.jit.cache import seconds_waited
from noregret.learner.arguments import check_integer
from noregret.learner.base_learner import BaseLearner
from noregret.learner.header_fields import corrupt, read_count, read_label, read_list
from noregret.learner.model_file import Arrays, FindCard, Header, register_kind

Floats = NDArray[np.float64]
COMPARED = {"simplex": "the best constant rebalanced portfolio"}  # of a theorem, by its comparator


@register_kind
class PortfolioLearner(BaseLearner):
    """A strategy over m stocks. A row holds the price relatives of a day: prices over those of the day before.

    The loss of a day is minus the logarithm of the growth of wealth, costs included. Predictions in transcripts are
    the portfolios that the days were played with.
    """

    kind: ClassVar[str] = "portfolio"
    task: str = "experts"
    shared = ("card",)

    def __init__(self, card: PortfolioCard, params: dict[str, Any], **options: Any) -> None:
        super().__init__()
        self.card: PortfolioCard = card  # type: ignore[misc]
        self.strategy_params = params
        self.seed = check_integer("seed", options.get("seed", 0), 0)
        self.native = bool(options.get("native", True))
        self.cost = check_cost(options.get("cost"))
        self.start, self.points = options.get("portfolio"), read_points(options.get("points"))
        self.names: list[Name] | None = None
        self.state: PortfolioState | None = None
        if options.get("names") is not None:
            names = check_stock_names(options["names"])
            self.names, self.state = names, self.begin(names)

    @property
    def params(self) -> dict[str, Any]:
        return {**self.strategy_params, **({"cost": self.cost} if self.cost else {})}

    def __repr__(self) -> str:
        if self.state is None:
            return f"<{self.card.name}: no stocks yet>"
        return f"<{self.card.name}: {self.state.stocks} stocks, {self.rounds} days, wealth {self.wealth:.6g}>"

    # ---- what happened -------------------------------------------------------------------------------------------

    def require_state(self) -> tuple[list[Name], PortfolioState]:
        if self.names is None or self.state is None:
            raise NotLearned("the stocks are not known yet; learn a day first, or give names=[...] to make")
        return self.names, self.state

    @property
    def portfolio(self) -> dict[Name, float]:
        """The portfolio of the next day: the share of wealth in every stock."""
        names, state = self.require_state()
        return dict(zip(names, state.values.b.tolist(), strict=True))

    @property
    def log_wealth(self) -> float:
        """The logarithm of the wealth that 1 has become."""
        return 0.0 if self.state is None else float(self.state.values.n.log_wealth)

    @property
    def wealth(self) -> float:
        """What 1 has become."""
        return exponential(self.log_wealth)

    @property
    def turnover(self) -> float:
        """The sum over days of the sum over stocks of how much the share was changed by trading."""
        return 0.0 if self.state is None else float(self.state.values.n.turnover)

    def bound(self) -> ExpertBound | None:
        """The theorem for the days played: what it bounds, and by how much; None where none holds."""
        state = self.require_state()[1]
        if self.cost or (self.card.exact is not None and not self.card.exact(state.stocks, state.values)):
            return None
        known = {
            "experts": float(state.stocks),
            "rounds": float(self.rounds),
            "least_relative": float(state.values.n.least),
        }
        for one in self.card.guarantees_for(self.strategy_params):
            value = one.evaluate(self.card.in_force(self.strategy_params)[0], known)
            return ExpertBound(one.bounds, value, COMPARED.get(one.comparator, "the best stock"), one.says)
        return None

    # ---- days ----------------------------------------------------------------------------------------------------

    def play(
        self, X: RowsLike, y: LabelsLike = None, weight: WeightsLike = None, query: LabelsLike = None
    ) -> Transcript:
        """Choose a portfolio, then learn, every day; all of them, or none."""
        began = time.perf_counter() - seconds_waited()
        if weight is not None:
            raise BadValue(f"{self.card.name} does not support weight=: every day counts once")
        with self._lock:
            self._change.settle()
            return self._change.save_and_run(self._own_state, lambda: self.play_days(X, y, began))

    def play_days(self, X: RowsLike, y: LabelsLike, began: float) -> Transcript:
        names, relatives = read_relatives(X, self.names, self.rounds)
        self.refuse_truths(y, len(relatives))
        check_stock_names(names)
        state = self.begin(names) if self.state is None else self.state.__deepcopy__({})
        told = state.play(relatives, self.native)
        updated, none = told.updated.astype(bool), np.zeros(len(relatives), bool)
        self.names, self.state = names, state
        self.rounds += len(relatives)
        self.updates += int(np.count_nonzero(updated))
        seconds = time.perf_counter() - seconds_waited() - began
        return Transcript(None, told.portfolios, told.losses, none, updated, None, seconds)

    def refuse_truths(self, y: LabelsLike, days: int) -> None:
        """Rows of price relatives are all there is: labels must be absent."""
        given = [] if y is None else list(y)
        if any(one is not None for one in given):
            raise BadValue(f"{self.card.name} takes price relatives, without labels y")
        if y is not None and len(given) != days:
            raise BadValue(f"there are {days} days and {len(given)} labels; leave the labels out")

    def begin(self, names: list[Name]) -> PortfolioState:
        """A fresh state for these stocks."""
        layout = {**self.strategy_params, "points": 0 if self.points is None else len(self.points)}
        state = PortfolioState(self.card, layout, len(names), self.seed)
        if self.points is not None and self.points.shape[1] != len(names):
            raise BadValue(f"points are portfolios of {self.points.shape[1]} stocks; there are {len(names)}")
        start = None if self.start is None else read_portfolio(self.start, names)
        state.begin(self.cost, start, self.points)
        return state

    def learn_one(self, x: RowLike, y: Any = None, weight: float | None = None) -> Self:
        """Learn one day: the price relative of every stock."""
        return self.learn([x], None if y is None else [y], weight)

    def predict(self, X: RowsLike) -> Floats:
        """The portfolio of the next day, for every row: it does not depend on what the rows hold."""
        with self._lock:
            self._change.settle()
            names, relatives = read_relatives(X, self.names, self.rounds)
            state = self.begin(names) if self.state is None else self.state
            return np.tile(state.values.b, (len(relatives), 1))

    def predict_one(self, x: RowLike | None = None) -> dict[Name, float] | None:
        """The portfolio of the next day by stock; None before the stocks are known. A row need not be given."""
        with self._lock:
            self._change.settle()
            if self.state is not None:
                return self.portfolio
            if x is None:
                return None
            names, _ = read_relatives([x], None)
            return dict(zip(names, self.begin(names).values.b.tolist(), strict=True))

    # ---- model files ---------------------------------------------------------------------------------------------

    def dump(self) -> tuple[Header, Arrays]:
        """The state, the names of the stocks and the options."""
        with self._lock:
            self._change.settle()
            own: Header = {"strategy": self.card.name, "params": self.strategy_params, "names": self.names}
            own |= {"seed": self.seed, "native": self.native, "cost": self.cost, "start": plain_start(self.start)}
            own["points"] = 0 if self.points is None else len(self.points)
            arrays: Arrays = {} if self.state is None else self.state.dump()
            if self.points is not None and self.state is None:
                arrays["given"] = self.points
            return {**own, **self.dump_counts()}, arrays

    @classmethod
    def restore(cls, header: Header, arrays: Arrays, find_card: FindCard) -> Self:
        """The learner of a header and arrays, all checked."""
        name, params, native = header.get("strategy"), header.get("params"), header.get("native")
        card = find_card(name) if isinstance(name, str) else None
        if not isinstance(card, PortfolioCard) or not isinstance(params, dict) or not isinstance(native, bool):
            raise corrupt("strategy must be that of a portfolio, params its parameters, and native true or false")
        names = (
            None if header.get("names") is None else [read_label(one, "a name") for one in read_list(header, "names")]
        )
        count = read_count(header, "points", 10_000_000)
        given = arrays.get("given") if names is None else arrays.get("points")
        try:
            options: dict[str, Any] = {"seed": header.get("seed"), "native": native, "cost": header.get("cost")}
            if header.get("start") is not None:
                options["portfolio"] = header["start"]
            if count and given is not None:
                options["points"] = given
            new: Self = card.build(**params, **options)
            new.restore_counts(header)
            if names is not None:
                new.names = check_stock_names(names)
                new.state = new.begin(new.names)
                new.state.restore(arrays, new.rounds)
            if (0 if new.points is None else len(new.points)) != count or (new.rounds and names is None):
                raise corrupt("the points or the days contradict the rest")
        except (BadValue, TypeError, ValueError) as error:
            raise corrupt(str(error).removeprefix("corrupt model file: ")) from None
        if new.state is not None and new.state.values.n.cost != new.cost:
            raise corrupt("the cost contradicts the counters")
        return new


# ---- checks ------------------------------------------------------------------------------------------------------


def exponential(log: float) -> float:
    """e^log, or infinity where that is too large for a number."""
    return math.exp(log) if log < 709.0 else math.inf


def check_stock_names(names: Any) -> list[Name]:
    try:
        return check_expert_names(names)
    except BadValue as error:
        raise BadValue(str(error).replace("experts", "stocks")) from None


def check_cost(given: Any) -> float:
    """The cost of trading, as a share of what is traded."""
    cost = 0.0 if given is None else given
    if isinstance(cost, bool) or not isinstance(cost, (int, float)) or not 0.0 <= cost < 1.0:
        raise BadValue(f"cost must be a number at least 0 and below 1, as 0.001 for 0.1 %, not {shown(given)}")
    return float(cost)


def read_portfolio(given: Any, names: list[Name]) -> Floats:
    """The shares of stocks that a caller gave: a dict by name, or a list in the order of the stocks."""
    if isinstance(given, Mapping):
        unknown = [name for name in given if name not in names]
        if unknown:
            raise BadValue(f"portfolio: there is no stock {unknown[0]!r}")
        given = [given.get(name, 0.0) for name in names]
    return np.asarray(check_portfolios([given], len(names), "portfolio")[0])


def read_points(given: Any) -> Floats | None:
    """Portfolios that a caller gave, a row for each."""
    if given is None:
        return None
    width = len(given[0]) if hasattr(given, "__len__") and len(given) and hasattr(given[0], "__len__") else 0
    return check_portfolios(given, width, "points")


def check_portfolios(given: Any, stocks: int, what: str) -> Floats:
    """Portfolios as rows of shares that are not negative and sum to 1."""
    try:
        rows = np.array(given, np.float64, ndmin=2)
    except (TypeError, ValueError):
        raise BadValue(f"{what} must be shares of stocks, not {shown(given)}") from None
    if rows.ndim != 2 or rows.shape[1] != stocks or not rows.size:
        raise BadValue(f"{what} must have a share for each of {stocks} stocks")
    if not (np.isfinite(rows).all() and rows.min() >= 0.0 and abs(rows.sum(axis=1) - 1.0).max() <= SUM):
        raise BadValue(f"{what} must be shares that are not negative and sum to 1")
    return rows


def plain_start(start: Any) -> Any:
    """The portfolio of the first day as JSON has it."""
    if start is None:
        return None
    return dict(start) if isinstance(start, Mapping) else np.asarray(start, np.float64).tolist()
