"""Matrix games: how fast players that learn come near an equilibrium, zero-sum by Hedge, general-sum by swap regret."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

import noregret as nr
from figures import COLOURS, show

CHICKEN = nr.games.MatrixGame([[0, 7], [2, 6]], [[0, 2], [7, 6]])
OTHER = nr.games.MatrixGame(*np.random.default_rng(5).random((2, 4, 4)))


class Row(NamedTuple):
    """One game: the gap of the mean play after the last round beside its bound, and after rounds on the way."""

    game: str
    rounds: int
    gap: float
    bound: float
    value: float
    exact: float
    curve: tuple[tuple[int, float], ...] = ()


def measure(rounds: int = 10_000, size: int = 5, games: int = 3) -> list[Row]:
    """Random zero-sum games by Hedge, then two general-sum games by swap regret."""
    rows = []
    for seed in range(games):
        game = nr.games.MatrixGame(np.random.default_rng(seed).random((size, size)))
        found, exact = nr.games.solve_by_hedge(game, rounds), game.solve().value
        rows.append(Row(f"random {size} x {size}", rounds, found.gap, found.bound, found.value, exact, (*found.curve,)))
    for name, game in {"chicken": CHICKEN, "random, two matrices": OTHER}.items():
        play = nr.games.find_correlated_equilibrium(game, rounds)
        rows.append(Row(name, rounds, play.gap, play.bound, sum(play.values), float("nan"), (*play.curve,)))
    return rows


def draw(axes: Any, rows: Sequence[Row]) -> None:
    zero_sum = [row for row in rows if row.exact == row.exact]
    for panel, mine in zip(axes, (zero_sum, rows[len(zero_sum) :]), strict=True):
        for row, colour in zip(mine, COLOURS, strict=False):
            times, gaps = zip(*row.curve, strict=True)
            panel.loglog(times, np.maximum(gaps, 1e-4), color=colour, label=row.game)
            panel.plot([row.rounds], [row.bound], "_", color=colour, markersize=12)
        panel.set(xlabel="rounds")
        panel.legend(frameon=False, loc="lower left")
    axes[0].set(ylabel="duality gap of the mean strategies", title="two Hedge players; dashes: bounds")
    axes[1].set(ylabel="gain by swapping actions", title="two players with small swap regret")


if __name__ == "__main__":
    measured = measure()
    show("matrix_games", Row._fields[:6], [row[:6] for row in measured], lambda axes: draw(axes, measured), 2)
