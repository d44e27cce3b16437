"""Paths over a grid whose costs change in every round: regret to the best fixed path, with a known or unknown end."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

import noregret as nr
from figures import COLOURS, show

SIZE = 6
PLAYERS = {"Hedge": "PathHedge", "perturbed leader": "PathLeader", "own path only": "PathExplorer"}


class Row(NamedTuple):
    """One player: what its paths cost, what the best fixed path would have, and the bound of its theorem."""

    destination: str
    player: str
    cost: float
    best: float
    regret: float
    bound: float
    regrets: tuple[float, ...] = ()


def terrain(rounds: int, seed: int) -> Any:
    """Costs around means of their own; in the second half the means of half of the cells change."""
    rng = np.random.default_rng(seed)
    means = np.stack([rng.random((SIZE, SIZE)), rng.random((SIZE, SIZE))])
    changes = rng.random((SIZE, SIZE)) < 0.5
    for t in range(rounds):
        now = np.where(changes & (t >= rounds // 2), means[1], means[0])
        yield np.clip(now + rng.normal(0.0, 0.2, now.shape), 0.0, 1.0)


def measure(rounds: int = 2000, seed: int = 0) -> list[Row]:
    """Walk to the opposite corner; then to a destination on the border that is shown only after the path is chosen."""
    rows = []
    for destination in ("known", "unknown"):
        grid = nr.games.GridPaths(SIZE, SIZE, ends=None if destination == "known" else "border")
        goals = np.random.default_rng(seed + 1).choice(len(grid.ends), rounds, p=falling(len(grid.ends)))
        for name, kind in PLAYERS.items():
            player = getattr(nr.games, kind)(grid, seed=seed)
            total, ends, costs, best = np.zeros(SIZE**2), np.zeros(SIZE**2), [], []
            for t, one in enumerate(terrain(rounds, seed)):
                prices = grid.price_ends(one.ravel(), grid.ends[goals[t]])
                path = player.play()
                if kind == "PathExplorer":
                    player.observe_path([one[cell] for cell in path[1:]], float(prices[grid.number(path[-1])]))
                else:
                    player.observe(one, grid.ends[goals[t]])
                total, ends = total + one.ravel(), ends + prices
                costs.append(player.cost)
                best.append(grid.find_cheapest(total, ends)[1])
            curve = tuple(np.subtract(costs, best).tolist())
            rows.append(Row(destination, name, player.cost, best[-1], curve[-1], player.bound, curve))
    return rows


def falling(count: int) -> Any:
    """Probabilities that fall by half from one end to the next."""
    shares = 0.5 ** np.arange(count)
    return shares / shares.sum()


def draw(axes: Any, rows: Sequence[Row]) -> None:
    for panel, destination in zip(axes, ("known", "unknown"), strict=True):
        for row, colour in zip([row for row in rows if row.destination == destination], COLOURS, strict=False):
            panel.plot(np.arange(1, len(row.regrets) + 1), row.regrets, color=colour, label=row.player)
        panel.set(xlabel="round", title=f"{destination} destination")
    axes[0].set(ylabel="regret to the best fixed path")
    axes[0].legend(frameon=False)


if __name__ == "__main__":
    measured = measure()
    show("changing_terrain", Row._fields[:6], [row[:6] for row in measured], lambda axes: draw(axes, measured), 2)
