"""Ads by bandit feedback: one is shown in each round, and only its click is seen."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

import noregret as nr
from figures import COLOURS, show

RATES = {"shoes": 0.10, "books": 0.30, "tea": 0.15, "travel": 0.05}  # how often each ad is clicked
LEARNERS: dict[str, float] = {"exp3": 0.02, "exp3, larger rate": 0.1}


class Row(NamedTuple):
    """One learner, mean over seeds: clicks, those of the best ad, expected regret and its bound."""

    learner: str
    clicks: float
    best: float
    regret: float
    standard_error: float
    bound: float
    regrets: tuple[float, ...] = ()


def measure(rounds: int = 4000, seeds: int = 5) -> list[Row]:
    """Choose, show, and reward; the regret counts how rarely the chosen ads are clicked by their rates."""
    rows = []
    for name, eta in LEARNERS.items():
        curves, clicks = [], []
        for seed in range(seeds):
            rng = np.random.default_rng(seed)
            m = nr.make("exp3", classes=list(RATES), eta=eta, seed=seed)
            lost, clicked = [], 0
            for _ in range(rounds):
                chosen = m.choose_one()
                right = bool(rng.random() < RATES[chosen.label])
                m.reward_one(None, chosen, right=right)
                lost.append(max(RATES.values()) - RATES[chosen.label])
                clicked += right
            curves.append(np.cumsum(lost))
            clicks.append(clicked)
        last = np.array([curve[-1] for curve in curves])
        error = float(last.std(ddof=1) / np.sqrt(seeds)) if seeds > 1 else 0.0
        bound = nr.learners()["exp3"].bound({"eta": eta}, classes=len(RATES), rounds=rounds)
        mean = tuple(np.mean(curves, axis=0).tolist())
        rows.append(Row(name, float(np.mean(clicks)), rounds * 0.3, float(last.mean()), error, bound, mean))
    return rows


def draw(axes: Any, rows: Sequence[Row]) -> None:
    for row, colour in zip(rows, COLOURS, strict=False):
        rounds = np.arange(1, len(row.regrets) + 1)
        axes.plot(rounds, row.regrets, color=colour, label=row.learner)
    guessing = max(RATES.values()) - np.mean(list(RATES.values()))
    axes.plot(rounds, guessing * rounds, ":", color="grey", label="ads at random")
    axes.set(xlabel="round", ylabel="clicks lost to the best ad, expected")
    axes.legend(frameon=False)


if __name__ == "__main__":
    measured = measure()
    show("choosing_ads", Row._fields[:6], [row[:6] for row in measured], lambda axes: draw(axes, measured))
