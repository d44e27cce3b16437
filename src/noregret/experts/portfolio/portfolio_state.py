"""The state of a strategy over m stocks: built, copied, grown, and read from model files."""

import math
from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from noregret.errors import BadValue
from noregret.experts.portfolio.card import ARRAYS, PortfolioCard
from noregret.experts.portfolio.days import Told, run_days
from noregret.learner.header_fields import LARGEST_COUNT, corrupt
from noregret.rules.rule_card import Chosen

Floats = NDArray[np.float64]
SUM = 1e-9  # how far the sum of a portfolio may be from 1


class PortfolioState:
    """The arrays and counters of a strategy. `play` leaves the state as it was if anything fails."""

    def __init__(self, card: PortfolioCard, params: Mapping[str, Any], stocks: int, seed: int) -> None:
        self.card, self.params, self.stocks = card, dict(params), stocks
        record = np.zeros(1, dtype=[(name, "f8") for name in card.all_counters]).view(np.recarray)
        for name, first in card.all_counters.items():
            record[name] = first
        arrays: list[NDArray[Any]] = [np.full(stocks, 1.0 / stocks), np.zeros(stocks)]
        for one in card.arrays.values():
            array = np.full(one.shape(stocks, 0, self.params), one.start)
            if one.fill is not None and array.size:
                one.fill(array, self.params, seed)
            arrays.append(array)
        self.values = card.state_class(*arrays, record[0])

    def begin(self, cost: float, portfolio: Floats | None, points: Floats | None) -> None:
        """Set the cost of trading, and what a caller gave to begin with."""
        self.values.n.cost = cost
        if points is not None:
            self.values.points[:] = points
        self.derive()
        if self.card.begin is not None:
            self.card.begin(self.values)
        if portfolio is not None:
            self.values.b[:] = portfolio
            self.values.n.given = 1.0

    def derive(self) -> None:
        if self.card.derive is not None:
            self.card.derive(self.values)

    @property
    def days(self) -> int:
        return int(self.values.n.t)

    def play(self, relatives: Floats, native: bool) -> Told:
        """Play some days."""
        new = self.copy_values(self.days + len(relatives))
        told = Told(np.empty_like(relatives), np.empty(len(relatives)), np.zeros(len(relatives), np.uint8))
        if len(relatives):
            numbers, chosen = self.in_force
            run_days(self.card, chosen, native, (numbers, new, relatives, told))
            finite = np.isfinite(told.losses).all() and all(np.isfinite(array).all() for array in new[:-1])
            if not finite or abs(new.b.sum() - 1.0) > SUM:
                raise BadValue(
                    f"{self.card.name}: the portfolio is not finite; use price relatives that differ by less"
                )
        self.values = new  # in this step the days are played
        return told

    @property
    def in_force(self) -> tuple[Any, Chosen]:
        """The numbers as the loop reads them, and the options that stand for functions."""
        numbers, chosen = self.card.in_force(self.params)
        bound = [name for name, choice in self.card.choices.items() if all(map(callable, choice.among.values()))]
        return numbers, tuple((name, chosen[name]) for name in bound)

    def copy_values(self, days: int) -> Any:
        """An independent copy of the values, with room for so many days."""
        record = np.array([self.values.n], dtype=self.values.n.dtype).view(np.recarray)
        arrays = [getattr(self.values, name).copy() for name in ARRAYS]
        for name, one in self.card.arrays.items():
            old = getattr(self.values, name)
            shape = one.shape(self.stocks, days, self.params)
            if one.fixed:
                arrays.append(old)
            elif shape == old.shape:
                arrays.append(old.copy())
            else:
                array = np.full(shape, one.start)
                array[: len(old)] = old
                arrays.append(array)
        return self.card.state_class(*arrays, record[0])

    def __deepcopy__(self, memo: Any) -> Self:
        new = object.__new__(type(self))
        vars(new).update(vars(self) | {"values": self.copy_values(self.days)})
        return new

    # ---- model files ---------------------------------------------------------------------------------------------

    def saved(self) -> list[str]:
        """The names of the arrays that a file holds."""
        return [*ARRAYS, *(name for name, one in self.card.arrays.items() if not one.scratch)]

    def dump(self) -> dict[str, NDArray[Any]]:
        arrays = {name: getattr(self.values, name).copy() for name in self.saved()}
        arrays["counters"] = np.array([float(self.values.n[name]) for name in self.card.all_counters])
        return arrays

    def restore(self, arrays: Mapping[str, NDArray[Any]], days: int) -> None:
        """Take arrays from a file, all checked; the learner that read them says how many days there were."""
        self.values = self.copy_values(days)
        for name in self.saved():
            expected, read = getattr(self.values, name), arrays.get(name)
            shape = "x".join(map(str, expected.shape))
            if read is None or read.dtype != np.float64 or read.shape != expected.shape or not np.isfinite(read).all():
                raise corrupt(f"{name} must be {shape} finite numbers")
            expected[:] = read
        counters = arrays.get("counters")
        names = list(self.card.all_counters)
        if counters is None or counters.dtype != np.float64 or counters.shape != (len(names),):
            raise corrupt(f"counters must be {len(names)} numbers")
        for name, value in zip(names, counters.tolist(), strict=True):
            if not math.isfinite(value) or (value < 0.0 and name != "log_wealth"):
                raise corrupt(f"counter {name} is {value:g}, which it cannot be")
            self.values.n[name] = value
        self.derive()
        problem = self.find_problem(days)
        if problem is not None:
            raise corrupt(problem)

    def find_problem(self, days: int) -> str | None:
        """What is wrong with arrays of the right sizes, or None."""
        s = self.values
        if s.n.t != days or days > LARGEST_COUNT or not s.n.least <= 1.0 or not s.n.cost < 1.0:
            return "the counters contradict each other"
        if s.b.min() < 0.0 or abs(s.b.sum() - 1.0) > SUM:
            return "b must be a portfolio"
        if days and (s.held.min() < 0.0 or abs(s.held.sum() - 1.0) > SUM):
            return "held must be a portfolio"
        return None if self.card.find_problem is None else self.card.find_problem(s)
