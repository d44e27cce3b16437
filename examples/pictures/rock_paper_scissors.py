"""Rock-paper-scissors: wins less losses against strategies, and the regret to the best predictor beside its bound."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

import noregret as nr
from figures import COLOURS, show

OPPONENTS = ("cycle", "copycat", "markov", "switching", "random")


class Row(NamedTuple):
    """Matches against one strategy: the share of wins less losses, over several seeds, and one match in full."""

    opponent: str
    net: float
    standard_error: float
    regret: float
    bound: float
    scores: tuple[int, ...] = ()
    regrets: tuple[float, ...] = ()


def measure(opponents: Sequence[str] = OPPONENTS, rounds: int = 1000, seeds: int = 10) -> list[Row]:
    """Play matches of the default player; regret and curves are those of the first."""
    rows = []
    for name in opponents:
        matches = []
        for seed in range(seeds):
            player = nr.games.RockPaperScissors(seed=seed)
            matches.append(nr.games.play_match(player, nr.games.make_opponent(name, 100 + seed), rounds))
        nets = np.array([match.player.net_wins / rounds for match in matches])
        first, error = matches[0], float(nets.std(ddof=1) / np.sqrt(seeds)) if seeds > 1 else 0.0
        bound = first.player.bound()
        assert bound is not None
        curves = tuple(first.scores.tolist()), tuple(first.regrets)
        rows.append(Row(name, float(nets.mean()), error, first.player.regret, bound.value, *curves))
    return rows


def draw(axes: Any, rows: Sequence[Row]) -> None:
    for row, colour in zip(rows, COLOURS, strict=False):
        rounds = np.arange(1, len(row.scores) + 1)
        axes[0].plot(rounds, row.scores, color=colour, label=row.opponent)
        axes[1].plot(rounds, row.regrets, color=colour)
    axes[1].axhline(rows[0].bound, color="grey", linestyle=":", label="bound after the last round")
    axes[0].set(xlabel="round", ylabel="wins less losses")
    axes[1].set(xlabel="round", ylabel="regret to the best predictor")
    axes[0].legend(frameon=False)
    axes[1].legend(frameon=False)


if __name__ == "__main__":
    measured = measure()
    show("rock_paper_scissors", Row._fields[:5], [row[:5] for row in measured], lambda axes: draw(axes, measured), 2)
