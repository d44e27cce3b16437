"""Equilibria of matrix games by players that learn: Hedge against Hedge, swap regret against swap regret."""

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.errors import BadValue, shown
from noregret.experts.card import find_algorithm
from noregret.experts.expert_weights import ExpertWeights
from noregret.games.matrix_game import MatrixGame
from noregret.games.swap_regret import SwapWeights, best_rate
from noregret.learner.arguments import check_integer

Floats = NDArray[np.float64]
POINTS = 60  # of the curve of gaps


@dataclass
class Played:
    """What two players came to: bounds and regrets are sums over all rounds, in the units of the payoffs."""

    game: MatrixGame
    rounds: int
    regrets: tuple[float, float]
    bounds: tuple[float, float]
    curve: list[tuple[int, float]] = field(default_factory=list)  # the gap after some of the rounds

    @property
    def bound(self) -> float:
        """What the theorems of both players allow for the gap."""
        return sum(self.bounds) / self.rounds


@dataclass
class HedgePlay(Played):
    """Two players of a zero-sum game that learned: their mean strategies, and how far these are from optimal."""

    row: Floats = field(default_factory=lambda: np.zeros(0))
    column: Floats = field(default_factory=lambda: np.zeros(0))
    value: float = 0.0  # the mean payoff of the row player

    @property
    def gap(self) -> float:
        """The duality gap of the mean strategies: at most the sum of both regrets by the number of rounds."""
        return self.game.gap(self.row, self.column)

    @property
    def limits(self) -> tuple[float, float]:
        """The minimax value lies between these, which the mean strategies secure."""
        return float((self.row @ self.game.row).min()), float((self.game.row @ self.column).max())

    def __str__(self) -> str:
        low, high = self.limits
        return (f"value {self.value:.6g} after {self.rounds:,} rounds, the minimax value is in [{low:.6g}, {high:.6g}]"
                f"\ngap {self.gap:.4g}, bound {self.bound:.4g}; regrets {self.regrets[0]:.4g} and "
                f"{self.regrets[1]:.4g}, bounds {self.bounds[0]:.4g} and {self.bounds[1]:.4g}")  # fmt: skip


@dataclass
class CorrelatedPlay(Played):
    """Two players with small swap regret: their mean joint play, close to a correlated equilibrium."""

    joint: Floats = field(default_factory=lambda: np.zeros((0, 0)))

    @property
    def gap(self) -> float:
        """What a player could gain at most, in each round, by replacing recommended actions."""
        return max(self.game.swap_gains(self.joint))

    @property
    def bound(self) -> float:
        return max(self.bounds) / self.rounds

    @property
    def values(self) -> tuple[float, float]:
        """The mean payoffs of both players."""
        return float((self.joint * self.game.row).sum()), float((self.joint * self.game.column).sum())

    def __str__(self) -> str:
        return (f"mean payoffs {self.values[0]:.6g} and {self.values[1]:.6g} after {self.rounds:,} rounds\n"
                f"gap {self.gap:.4g}, bound {self.bound:.4g}; swap regrets {self.regrets[0]:.4g} and "
                f"{self.regrets[1]:.4g}, bounds {self.bounds[0]:.4g} and {self.bounds[1]:.4g}")  # fmt: skip


class Scaled:
    """The losses, from 0 to 1, of the actions of one player against a strategy of the other."""

    def __init__(self, payoffs: Floats) -> None:
        self.payoffs, self.high = payoffs, float(payoffs.max())
        self.width = self.high - float(payoffs.min())

    def losses(self, other: Floats) -> Floats:
        if self.width == 0.0:
            return np.zeros(len(self.payoffs))
        return np.asarray(np.clip((self.high - self.payoffs @ other) / self.width, 0.0, 1.0))


def solve_by_hedge(
    game: MatrixGame, rounds: int = 10_000, algorithm: str = "hedge", *, seed: int | None = None, **params: Any
) -> HedgePlay:
    """Let two players with an expert algorithm play a zero-sum game; their mean strategies approach the minimax ones.

    Hedge has by default the best rate for so many rounds, sqrt(8 ln N / T). Each player sees the mixed strategy of the
    other; with a seed, both draw actions and see those, and the mean strategies are the frequencies of the actions.
    """
    check_game(game).require_zero_sum("solve_by_hedge approaches the value")
    count, players = check_integer("rounds", rounds, 1), make_players(game, rounds, algorithm, params)
    rng = None if seed is None else np.random.default_rng(check_integer("seed", seed, 0))
    sides = Scaled(game.row), Scaled(game.column.T)
    sums, paid, curve, times = [np.zeros(size) for size in game.actions], 0.0, [], set(log_times(count))
    for t in range(1, count + 1):
        p, q = (draw_action(one.current(), rng) for one in players)
        players[0].play(sides[0].losses(q)[None])
        players[1].play(sides[1].losses(p)[None])
        sums[0] += p
        sums[1] += q
        paid += float(p @ game.row @ q)
        if t in times:
            curve.append((t, game.gap(*(total / total.sum() for total in sums))))
    row, column = (total / total.sum() for total in sums)
    most = float((game.row @ column).max()), float((row @ game.row).min())
    regrets = count * most[0] - paid, paid - count * most[1]
    bounds = sides[0].width * find_bound(players[0]), sides[1].width * find_bound(players[1])
    return HedgePlay(game, count, regrets, bounds, curve, row, column, paid / count)


def make_players(game: MatrixGame, rounds: int, algorithm: str, params: dict[str, Any]) -> list[ExpertWeights]:
    """The two players; `native` is an option of both."""
    card, players, given = find_algorithm(algorithm), [], dict(params)
    native = bool(given.pop("native", True))
    for number, actions in enumerate(game.actions):
        own = dict(given)
        if card.name == "hedge" and "eta" not in own:
            own["eta"] = math.sqrt(8.0 * math.log(max(actions, 2)) / rounds)
        players.append(ExpertWeights(card, actions, seed=number, native=native, **own))
    return players


def draw_action(strategy: Floats, rng: np.random.Generator | None) -> Floats:
    """The strategy as it is, or an action drawn by it."""
    if rng is None:
        return strategy
    drawn = np.zeros(len(strategy))
    drawn[min(int(np.searchsorted(np.cumsum(strategy), rng.random(), side="right")), len(strategy) - 1)] = 1.0
    return drawn


def find_correlated_equilibrium(
    game: MatrixGame, rounds: int = 10_000, *, eta: float | None = None, native: bool = True
) -> CorrelatedPlay:
    """Let two players with small swap regret play; the mean of their joint play approaches a correlated equilibrium.

    The learning rate is by default the best for so many rounds.
    """
    check_game(game)
    count = check_integer("rounds", rounds, 1)
    players = [SwapWeights(size, best_rate(size, count) if eta is None else eta, native) for size in game.actions]
    sides = Scaled(game.row), Scaled(game.column.T)
    joint, curve, times = np.zeros(game.row.shape), [], set(log_times(count))
    for t in range(1, count + 1):
        p, q = (one.current() for one in players)
        players = [players[0].after(sides[0].losses(q), p), players[1].after(sides[1].losses(p), q)]
        joint += np.outer(p, q)
        if t in times:
            curve.append((t, max(game.swap_gains(joint / joint.sum()))))
    regrets = [side.width * one.swap_regret for side, one in zip(sides, players, strict=True)]
    bounds = [side.width * one.bound for side, one in zip(sides, players, strict=True)]
    return CorrelatedPlay(game, count, (regrets[0], regrets[1]), (bounds[0], bounds[1]), curve, joint / joint.sum())


def find_bound(weights: ExpertWeights) -> float:
    """The bound of the theorem on the regret; infinite where there is none."""
    bound = weights.bound()
    return math.inf if bound is None or "regret" not in bound.measure else bound.value


def log_times(rounds: int) -> list[int]:
    """Some of the rounds, evenly spaced on a logarithmic scale, the last one included."""
    return sorted({round(rounds ** (k / POINTS)) for k in range(POINTS + 1)})


def check_game(game: Any) -> MatrixGame:
    if not isinstance(game, MatrixGame):
        raise BadValue(f"give a game, as in MatrixGame([[1, -1], [-1, 1]]), not {shown(game)}")
    return game
