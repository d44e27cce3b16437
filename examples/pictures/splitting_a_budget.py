"""A budget split among servers whose speeds change: online convex optimisation beside the best fixed split."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

import noregret as nr
from figures import COLOURS, show

LEARNERS: dict[str, dict[str, Any]] = {
    "ogd": {"onto": "simplex", "eta0": 0.2},
    "eg": {"eta": 0.1},
}
SERVERS = 4


class Row(NamedTuple):
    """One learner: its cost, that of the best fixed split and of an even one, and its shares at the end."""

    learner: str
    cost: float
    best: float
    even: float
    regret: float
    gap: float
    shares: tuple[tuple[float, ...], ...] = ()
    regrets: tuple[float, ...] = ()


def speeds(rounds: int, seed: int) -> Any:
    """How fast every server is in every round."""
    rng = np.random.default_rng(seed)
    return np.clip(rng.normal(np.linspace(0.8, 2.0, SERVERS), 0.3, (rounds, SERVERS)), 0.4, 3.0)


def cost(shares: Any, speed: Any) -> Any:
    """The waiting time: convex in the shares, and with a corner where a server is overloaded."""
    load = shares / speed
    return (load**2 + np.maximum(load - 0.4, 0.0)).sum(axis=-1)


def slope(shares: Any, speed: Any) -> Any:
    return 2.0 * shares / speed**2 + (shares / speed > 0.4) / speed


def measure(rounds: int = 2000, seed: int = 0) -> list[Row]:
    """Play every learner; the best fixed split minimises the cost of all rounds together, with a proven gap."""
    speed, rows = speeds(rounds, seed), []
    best = nr.games.find_best_split(lambda x: cost(x, speed).sum(), lambda x: slope(x, speed).sum(axis=0), SERVERS)
    even = float(cost(np.full(SERVERS, 1.0 / SERVERS), speed).sum())
    fixed = np.cumsum(cost(best.shares, speed))
    for name, options in LEARNERS.items():
        m, shares, paid = nr.make(name, task="convex", dimension=SERVERS, **options), [], []
        for now in speed:
            x = m.point
            m.suffer(slope(x, now), loss=float(cost(x, now)))
            shares.append(tuple(x.tolist()))
            paid.append(m.total_loss)
        curve = tuple((np.array(paid) - fixed).tolist())
        rows.append(Row(name, m.total_loss, best.cost, even, curve[-1], best.gap, tuple(shares), curve))
    return rows


def draw(axes: Any, rows: Sequence[Row]) -> None:
    for row, colour in zip(rows, COLOURS, strict=False):
        rounds = np.arange(1, len(row.regrets) + 1)
        axes[0].plot(rounds, row.regrets, color=colour, label=row.learner)
        for server, share in enumerate(zip(*row.shares, strict=True)):
            axes[1].plot(rounds, share, color=colour, label=row.learner if server == 0 else None, linewidth=0.8)
    axes[0].set(xlabel="round", ylabel="regret to the best fixed split")
    axes[1].set(xlabel="round", ylabel="share of each server")
    axes[0].legend(frameon=False)


if __name__ == "__main__":
    measured = measure()
    show("splitting_a_budget", Row._fields[:6], [row[:6] for row in measured], lambda axes: draw(axes, measured), 2)
