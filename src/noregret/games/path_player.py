"""The base of players that choose a path in every round, before they see what the cells cost."""

import math
from abc import abstractmethod
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from noregret.errors import BadValue, shown
from noregret.games.grid_paths import GridPaths, Path, dump_grid, restore_grid
from noregret.games.player import Floats, Player
from noregret.learner.arguments import check_integer
from noregret.learner.header_fields import corrupt, read_count, read_number, read_param
from noregret.learner.model_file import Arrays, FindCard, Header
from noregret.rules.parameters import Param

ETA = Param(0.0, at_least=0.0, about="the learning rate; 0: the best one for the rounds so far")

LARGEST_SUM = 1e100  # of costs or their estimates in a file


class PathPlayer(Player):
    """Chooses a path over a grid in every round: `play` gives it, `observe` takes the costs of all cells.

    The learning rate falls with the rounds; with rounds=T it is the best for T rounds, with eta= what is given.
    """

    shared: ClassVar[tuple[str, ...]] = ("grid",)
    numbers: ClassVar[tuple[str, ...]] = ("cost", "last_eta", "etas")  # what is saved beside the arrays

    def __init__(
        self, grid: GridPaths, *, rounds: int | None = None, eta: float = 0.0, seed: int = 0, native: bool = True
    ) -> None:
        super().__init__(seed)
        if not isinstance(grid, GridPaths):
            raise BadValue(f"give a grid, as in GridPaths(4, 5), not {shown(grid)}")
        self.grid, self.native = grid, bool(native)
        self.eta = ETA.check(self.kind, "eta", eta)
        if rounds is not None:
            if eta:
                raise BadValue("give rounds, for the best learning rate of so many rounds, or eta, not both")
            self.eta = self.best_rate(check_integer("rounds", rounds, 1))
        self.total, self.end_total = np.zeros(len(grid.after)), np.zeros(len(grid.after))
        self.cost = 0.0  # of the paths that were played
        self.last_eta = self.etas = 0.0  # the rate of the last round, and the sum of the rates of all
        self._next: tuple[int, Path] | None = None

    def __repr__(self) -> str:
        return f"<{self.kind}: {self.grid.rows} x {self.grid.columns}, {self.rounds} rounds, cost {self.cost:.6g}>"

    @abstractmethod
    def best_rate(self, rounds: int) -> float:
        """The learning rate with the least bound for so many rounds."""

    @abstractmethod
    def choose_path(self) -> Path: ...

    @property
    def rate(self) -> float:
        """The learning rate of this round."""
        return self.eta or self.best_rate(self.rounds + 1)

    # ---- rounds --------------------------------------------------------------------------------------------------

    def play(self) -> Path:
        """The path of this round, a tuple of cells from the start to an end; the same until `observe`."""
        with self._lock:
            self._change.settle()
            return self._choose()

    def _choose(self) -> Path:
        if self._next is None or self._next[0] != self.rounds:
            self._next = self.rounds, self.choose_path()
        return self._next[1]

    def observe(self, costs: ArrayLike, destination: Any = None) -> Self:
        """End the round with the cost of entering every cell, from 0 to 1, and the destination where it was unknown."""
        given = self.grid.check_costs(costs)
        ends = self.grid.price_ends(given, destination)
        with self._lock:
            self._change.settle()
            self._change.save_and_run(self._own_state, lambda: self.learn(self._choose(), given, ends))
        return self

    def learn(self, path: Path, costs: Floats, ends: Floats) -> None:
        """Add up the costs; a subclass counts what its theorem is about first."""
        rate = self.rate
        self.total, self.end_total = self.total + costs, self.end_total + ends
        self.cost += self.grid.cost_of(path, costs, ends)
        self.last_eta, self.etas = rate, self.etas + rate
        self._next = None
        self.rounds += 1

    # ---- what happened -------------------------------------------------------------------------------------------

    @property
    def best_path(self) -> Path:
        """The path with the least cost in all rounds together."""
        return self.grid.find_cheapest(self.total, self.end_total)[0]

    @property
    def best_cost(self) -> float:
        """What the best path would have cost."""
        return self.grid.find_cheapest(self.total, self.end_total)[1]

    @property
    def regret(self) -> float:
        """The cost of the paths played less that of the best single path."""
        return self.cost - self.best_cost

    # ---- model files ---------------------------------------------------------------------------------------------

    def dump(self) -> tuple[Header, Arrays]:
        """The grid, the summed costs and the counts."""
        with self._lock:
            self._change.settle()
            own: Header = {name: getattr(self, name) for name in self.numbers}
            own |= {"grid": dump_grid(self.grid), "eta": self.eta, "seed": self.seed, "rounds": self.rounds}
            arrays = {"total": self.total.copy(), "end_total": self.end_total.copy()}
            return {**own, "native": self.native}, arrays

    @classmethod
    def restore(cls, header: Header, arrays: Arrays, find_card: FindCard) -> Self:
        """A player from a header and arrays, all checked."""
        native, grid = header.get("native"), restore_grid(header.get("grid"))
        if not isinstance(native, bool):
            raise corrupt("native must be true or false")
        try:
            new = cls(grid, eta=read_param(header, "eta", ETA), seed=read_count(header, "seed"), native=native)
        except BadValue as error:
            raise corrupt(str(error).removeprefix("corrupt model file: ")) from None
        for name in ("total", "end_total"):
            found = arrays.get(name)
            if found is None or found.dtype != np.float64 or found.shape != new.total.shape:
                raise corrupt(f"{name} must be {new.total.size} numbers")
            if not np.isfinite(found).all() or found.min() < 0.0 or found.max() > LARGEST_SUM:
                raise corrupt(f"{name} must be numbers from 0 to {LARGEST_SUM:g}")
            setattr(new, name, found.copy())
        for name in cls.numbers:
            value = read_number(header.get(name), name)
            if value < 0.0:
                raise corrupt(f"{name} must not be negative")
            setattr(new, name, value)
        new.rounds = read_count(header, "rounds")
        if bool(new.rounds) != (new.last_eta > 0.0):
            raise corrupt("the learning rate contradicts the rounds")
        return new


def divide(a: float, b: float) -> float:
    return a / b if b > 0.0 else math.inf
