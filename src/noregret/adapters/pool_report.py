"""What a pool says about itself: its entries with their weights and losses, and the guarantee beside what happened."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from noregret.errors import import_extra

if TYPE_CHECKING:
    from noregret.adapters.pool import Auto


CARRIERS = 5  # entries named in a line
LEAST_SHOWN = 0.01  # of the weight, to be named there


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
    history: Mapping[str, Sequence[float]]  # "round": those of which weights are kept; by entry, its weight in each

    def as_dict(self) -> dict[str, Any]:
        """The report as JSON can hold it; weights over time of the entries that carry most of it now."""
        kept = [one.name for one in self.entries[:CARRIERS]]
        history = [
            {"rounds": rounds, "weights": {name: self.history[name][at] for name in kept}}
            for at, rounds in enumerate(self.history["round"])
        ]
        return {**asdict(replace(self, history={})), "history": history}

    def plot(self) -> Any:
        """The weights of the entries over time, as a matplotlib figure."""
        return import_extra("noregret.plots", "plots", "plot()").entry_weights(self)

    def guarantee_text(self) -> str:
        """The regret beside its bound, in a line."""
        bound = "" if self.bound is None else f" (at most {self.bound:,.1f} by the theorem)"
        return (
            f"weighted losses {self.loss:,.1f}; those of the best entry, {self.best}: {self.best_loss:,.1f}; "
            f"regret {self.regret:,.1f}{bound}"
        )

    def carriers_text(self) -> str:
        """The entries that carry most of the weight now, in a line."""
        shown = [f"{one.name} {100.0 * one.share:.0f} %" for one in self.entries[:CARRIERS] if one.share >= LEAST_SHOWN]
        others = sum(one.share for one in self.entries[len(shown) :])
        left = len(self.entries) - len(shown)
        rest = f", {left} other{'' if left == 1 else 's'} {100.0 * others:.0f} %" if left else ""
        return f"weight: {', '.join(shown)}{rest}"

    def __str__(self) -> str:
        head = self.guarantee_text()
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
        history={
            "round": pool.history.rounds.tolist(),
            **{one.name: pool.history.shares[:, at].tolist() for at, one in enumerate(pool.entries)},
        },
    )
