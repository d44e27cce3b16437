"""What a pool says about itself: its entries with their weights and losses, and the guarantee beside what happened."""

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from noregret.adapters.pool import Auto


@dataclass(frozen=True)
class EntryReport:
    """One entry: its weight in the next round, its summed loss, and whether it sleeps or why it stopped."""

    name: str
    share: float
    loss: float
    asleep: bool = False
    stopped: str | None = None


@dataclass(frozen=True)
class PoolReport:
    """A pool after some rounds.

    `loss` is the sum of the weighted losses of the entries, which the guarantee is about: it exceeds that of the best
    entry by `regret`, which is at most `bound`. Where entries sleep, `best` is the one with the largest regret over the
    rounds in which it was awake. `mistakes` are those of the weighted vote, at most `2 * loss`.
    """

    rounds: int
    loss: float
    best: str
    best_loss: float
    regret: float
    bound: float | None
    comparator: str
    mistakes: int
    entries: tuple[EntryReport, ...]

    def as_dict(self) -> dict[str, Any]:
        """The report as JSON can hold it."""
        return {**asdict(self), "entries": [asdict(entry) for entry in self.entries]}

    def __str__(self) -> str:
        bound = "" if self.bound is None else f", at most {self.bound:,.1f} by the theorem"
        best = f"best entry {self.best} {self.best_loss:,.1f}; regret {self.regret:,.1f}{bound}"
        head = f"weighted losses {self.loss:,.1f}; {best}"
        lines = [f"  {one.share:7.4f}  {one.loss:12,.1f}  {one.name}{describe_state(one)}" for one in self.entries]
        return "\n".join([head, "   weight          loss  entry", *lines])


def describe_state(entry: EntryReport) -> str:
    if entry.stopped is not None:
        return f" (stopped: {entry.stopped})"
    return " (sleeps)" if entry.asleep else ""


def report_pool(pool: "Auto") -> PoolReport:
    """The report of a pool; the entry with the largest weight first."""
    shares, losses = pool.mixture.current(), pool.mixture.cumulative_losses
    awake = pool.sleep.awake(pool.rounds)
    found = [
        EntryReport(one.name, float(shares[at]), float(losses[at]), not awake[at], pool.stopped.get(one.name))
        for at, one in enumerate(pool.entries)
    ]
    best, bound = int(np.argmax(pool.mixture.regrets)), pool.mixture.bound()
    return PoolReport(
        rounds=pool.rounds,
        loss=float(pool.mixture.loss),
        best=pool.entries[best].name,
        best_loss=float(losses[best]),
        regret=float(pool.mixture.regret),
        bound=None if bound is None else float(bound.value),
        comparator="the best entry" if bound is None else bound.comparator.replace("expert", "entry"),
        mistakes=pool.mistakes,
        entries=tuple(sorted(found, key=lambda one: (-one.share, one.loss, one.name))),
    )
