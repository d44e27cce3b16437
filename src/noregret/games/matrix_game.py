"""Games of two players in matrix form: payoffs, best responses, equilibria and their gaps."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from noregret.errors import BadValue, Error, shown

Floats = NDArray[np.float64]
ROUNDING = 1e-6  # how far the sum of probabilities may be from 1


@dataclass(frozen=True)
class Equilibrium:
    """Optimal strategies of both players of a zero-sum game, and its value to the row player."""

    value: float
    row: Floats
    column: Floats


class MatrixGame:
    """A game of two players: each picks an action, and a matrix tells each what it gains.

    `MatrixGame(A)` is zero-sum: the row player gains A[i, j], the column player loses it. In `MatrixGame(A, B)` the
    row player gains A[i, j] and the column player B[i, j].
    """

    def __init__(self, payoffs: ArrayLike, column_payoffs: ArrayLike | None = None) -> None:
        self.row = check_payoffs(payoffs, "the payoffs")
        self.zero_sum = column_payoffs is None
        self.column = -self.row if column_payoffs is None else check_payoffs(column_payoffs, "the column payoffs")
        if self.column.shape != self.row.shape:
            raise BadValue(f"both players must have payoffs for the same actions: the row player has "
                           f"{shape_of(self.row)}, the column player {shape_of(self.column)}")  # fmt: skip
        self.column.flags.writeable = self.row.flags.writeable = False

    def __repr__(self) -> str:
        kind = "zero-sum" if self.zero_sum else "general-sum"
        return f"<MatrixGame: {kind}, {self.row.shape[0]} x {self.row.shape[1]} actions>"

    @property
    def actions(self) -> tuple[int, int]:
        """The numbers of actions of the row and of the column player."""
        return int(self.row.shape[0]), int(self.row.shape[1])

    def value_of(self, row: ArrayLike, column: ArrayLike) -> tuple[float, float]:
        """What both players gain on average with these mixed strategies."""
        p, q = self.check_strategies(row, column)
        return float(p @ self.row @ q), float(p @ self.column @ q)

    def gains(self, row: ArrayLike, column: ArrayLike) -> tuple[float, float]:
        """What each player could gain more by its best response to the strategy of the other; 0 and 0: Nash."""
        p, q = self.check_strategies(row, column)
        here, there = self.value_of(p, q)
        return float((self.row @ q).max() - here), float((p @ self.column).max() - there)

    def gap(self, row: ArrayLike, column: ArrayLike) -> float:
        """The duality gap: the sum of both gains. In a zero-sum game the value is at most so far from that of play."""
        return sum(self.gains(row, column))

    def swap_gains(self, joint: ArrayLike) -> tuple[float, float]:
        """What each player could gain by replacing its actions in a joint distribution, each by another one.

        0 and 0: a correlated equilibrium, in which nobody gains by another action than the one that is recommended.
        """
        shares = np.asarray(joint, np.float64) if is_numeric(joint) else np.zeros(0)
        if shares.shape != self.row.shape or not is_distribution(shares.ravel()):
            raise BadValue(
                f"the joint distribution must be {shape_of(self.row)} probabilities that sum to 1, not {shown(joint)}"
            )
        rows = self.row @ shares.T  # [j, i]: what action j gains where i is recommended
        columns = shares.T @ self.column  # [i, j], of the other player
        gained = (rows - np.diag(rows)).max(axis=0).sum(), (columns - np.diag(columns)[:, None]).max(axis=1).sum()
        return float(gained[0]), float(gained[1])

    def solve(self) -> Equilibrium:
        """The minimax value and optimal strategies of a zero-sum game, by linear programming."""
        self.require_zero_sum("solve finds the value")
        low = float(self.row.min())
        value, row = maximin(self.row - low)
        column = maximin((self.row.max() - self.row).T)[1]
        return Equilibrium(value + low, row, column)

    def require_zero_sum(self, what: str) -> None:
        if not self.zero_sum:
            raise BadValue(f"{what} of zero-sum games only: MatrixGame(A); for two payoff matrices use "
                           "find_correlated_equilibrium")  # fmt: skip

    def check_strategies(self, row: ArrayLike, column: ArrayLike) -> tuple[Floats, Floats]:
        found = []
        for given, name, count in zip((row, column), ("row", "column"), self.actions, strict=True):
            strategy = np.asarray(given, np.float64) if is_numeric(given) else np.zeros(0)
            if strategy.shape != (count,) or not is_distribution(strategy):
                raise BadValue(f"the strategy of the {name} player must be {count} probabilities that sum to 1, "
                               f"not {shown(given)}")  # fmt: skip
            found.append(strategy)
        return found[0], found[1]


def maximin(payoffs: Floats) -> tuple[float, Floats]:
    """The value of a game whose payoffs are not negative, and a strategy of the row player that secures it."""
    from scipy.optimize import linprog  # takes a quarter of a second to import

    rows, columns = payoffs.shape
    constraints = np.hstack([-payoffs.T, np.ones((columns, 1))])  # v - p . A[:, j] <= 0 for every j
    sums = np.append(np.ones(rows), 0.0)[None]
    found: Any = linprog(np.append(np.zeros(rows), -1.0), constraints, np.zeros(columns), sums, [1.0], method="highs")
    if found.status != 0:
        raise Error(f"the linear program of the game was not solved: {found.message}")
    p = np.maximum(found.x[:-1], 0.0)
    return float(-found.fun), np.asarray(p / p.sum())


# ---- checks ----------------------------------------------------------------------------------------------------------


def is_numeric(given: Any) -> bool:
    try:
        return bool(np.isfinite(np.asarray(given, np.float64)).all())
    except (TypeError, ValueError):
        return False


def is_distribution(values: Floats) -> bool:
    return bool(values.size and values.min() >= 0.0 and abs(values.sum() - 1.0) <= ROUNDING)


def check_payoffs(given: Any, what: str) -> Floats:
    """A matrix of finite numbers, copied."""
    if not is_numeric(given) or np.ndim(given) != 2 or not np.size(given):
        raise BadValue(f"{what} must be a matrix of finite numbers, a row for each action of the row player and a "
                       f"column for each of the other, not {shown(given)}")  # fmt: skip
    found = np.array(given, np.float64)
    if float(np.abs(found).max()) > 1e150:
        raise BadValue(f"{what} must be below 1e150, so that their products are finite; rescale them")
    return found


def shape_of(matrix: Floats) -> str:
    return " x ".join(map(str, matrix.shape))
