"""The loop over days, written once for all portfolio strategies; compiled with the function of one, or interpreted."""

import math
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from noregret.algebra.verbs import unbound
from noregret.experts.portfolio.card import PortfolioCard
from noregret.experts.rounds import Compiled, compile_entry
from noregret.rules.parameters import bindings
from noregret.rules.rule_card import Chosen
from noregret.rules.specialize import rebind, specializer

NAMES = ("params", "state", "relatives", "told")
learn = unbound
read_params = read_state = read_relatives = read_told = unbound


class Told(NamedTuple):
    """What happened on every day: the portfolio that was held, its loss, and whether another one follows it."""

    portfolios: Any
    losses: Any
    updated: Any


def entry(table: Any) -> int:
    play_days(read_params(table), read_state(table), read_relatives(table), read_told(table))
    return 0


def play_days(p: Any, s: Any, relatives: Any, told: Any) -> None:
    """On every day: rebalance to the portfolio chosen before, let prices change, learn from the change.

    The loss of a day is minus the logarithm of the factor by which wealth grew, costs of rebalancing included. The
    purchase on the first day costs nothing.
    """
    for t in range(relatives.shape[0]):
        x, played = relatives[t], told.portfolios[t]
        growth, turnover, largest, smallest = 0.0, 0.0, 0.0, math.inf
        for i in range(x.size):
            played[i] = s.b[i]
            growth += s.b[i] * x[i]
            turnover += abs(s.b[i] - s.held[i])
            largest, smallest = max(largest, x[i]), min(smallest, x[i])
        if s.n.t == 0.0:
            turnover = 0.0
        gained = math.log(growth) + math.log1p(-0.5 * s.n.cost * turnover)
        told.losses[t] = -gained
        s.n.log_wealth += gained
        s.n.turnover += turnover
        s.n.least = min(s.n.least, smallest / largest)
        for i in range(x.size):
            s.held[i] = s.b[i] * x[i] / growth
        learn(p, s, x, growth)
        for i in range(x.size):
            if s.b[i] != played[i]:
                told.updated[t] = 1
        s.n.t += 1.0


@cache
def specialize_entry(card: PortfolioCard, chosen: Chosen) -> Callable[..., Any]:
    """The entry of a strategy, to be compiled: the same object every time, since compiled code is known by it."""
    return specialize(card, chosen)(entry)


def specialize(card: PortfolioCard, chosen: Chosen) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A function that copies functions of this file with those of a strategy bound to the names they stand for."""
    choices = {name: card.choices[name] for name, _ in chosen}
    tag = "_".join((card.name, *(f"{name}_{option}" for name, option in chosen)))
    return specializer({"learn": card.learn, **bindings(choices, dict(chosen))}, rebind, tag)


def run_days(card: PortfolioCard, chosen: Chosen, native: bool, values: tuple[Any, ...]) -> None:
    """Play days: the parameters, the state, the price relatives, and room for what is told."""
    if not native:
        with np.errstate(all="ignore"):
            specialize(card, chosen)(play_days)(*values)
        return
    found = _compiled.get((card, chosen))
    if found is None:
        found = _compiled[card, chosen] = compile_entry(specialize_entry(card, chosen), NAMES, values)
    run, size = found
    run(np.zeros(size, np.int64), *values)


_compiled: dict[tuple[PortfolioCard, Chosen], Compiled] = {}
