"""Run the loop of backpropagation: compiled with an optimizer, or the same text in plain Python."""

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from noregret.algebra.verbs import unbound
from noregret.neural import backprop
from noregret.neural.net import Hedge, Net, Rounds, Rows
from noregret.neural.optimizers import Numbers, Optimizer, Weights
from noregret.neural.rounds import play_rounds
from noregret.rules.specialize import rebind, specializer

read_numbers = read_weights = read_net = read_hedge = read_rows = read_rounds = unbound


class Values(NamedTuple):
    """All that the loop reads and writes."""

    numbers: Numbers
    weights: Weights
    net: Net
    hedge: Hedge
    rows: Rows
    rounds: Rounds


def entry(table: Any) -> int:
    p, s, net, hedge = read_numbers(table), read_weights(table), read_net(table), read_hedge(table)
    play_rounds(p, s, net, hedge, read_rows(table), read_rounds(table))
    return 0


class BoundLoop:
    """The loop of an optimizer over one network: its table leads to the network, and needs only the rows of a call."""

    def __init__(self, optimizer: Optimizer, values: Values) -> None:
        from noregret.jit.layout import address, fill  # what lists learners needs no compiler

        self.values, self.loop = values, compile_loop(optimizer, values)
        self.table = np.zeros(self.loop.size, np.int64)
        for name, value in zip(Values._fields, values, strict=True):
            fill(self.table, self.loop.slots[name], value)
        self.at = address(self.table)

    def run(self, rows: Rows, rounds: Rounds) -> None:
        """Play the rounds of a call."""
        self.bind(rows, rounds)
        self.run_bound()

    def bind(self, rows: Rows, rounds: Rounds) -> None:
        """Take the rows and rounds of a call."""
        from noregret.jit.layout import fill

        self.kept = rows, rounds  # in memory while the loop runs
        fill(self.table, self.loop.slots["rows"], self.kept)

    def run_bound(self) -> None:
        """Play the rounds that were taken."""
        if self.loop.entry.run(self.at) != 0:
            raise IndexError("the loop of a network reached out of its arrays")


def run_interpreted(optimizer: Optimizer, values: Values) -> None:
    """Play the rounds in plain Python."""
    with np.errstate(all="ignore"):
        specialized(optimizer)(*values)


@cache
def specialized(optimizer: Optimizer) -> Callable[..., None]:
    """The loop in plain Python, as a debugger sees it, with the step of an optimizer."""
    return specializer({"step": optimizer.step, "rests": optimizer.rests}, rebind, optimizer.name)(play_rounds)


class Loop(NamedTuple):
    """A compiled loop: its entry, where each of its values stands in the table, and the size of the table."""

    entry: Any
    slots: dict[str, int]
    size: int


_loops: dict[Optimizer, Loop] = {}


def compile_loop(optimizer: Optimizer, values: Values) -> Loop:
    """The compiled loop of an optimizer, with examples of its values: their types are always the same."""
    found = _loops.get(optimizer)
    if found is not None:
        return found
    from noregret.jit.compiled import get_function
    from noregret.jit.layout import count_words

    places, slot = {}, 0
    for name, value in zip(Values._fields, values, strict=True):
        places[name] = (slot, value)
        slot += count_words(value)
    named = rebind(entry, f"backprop_{optimizer.name}", {})
    compiled = get_function(named, places, {"update_row": update_row_of(optimizer)})
    made = _loops[optimizer] = Loop(compiled, {name: first for name, (first, _) in places.items()}, slot)
    return made


@cache
def update_row_of(optimizer: Optimizer) -> Callable[..., None]:
    """The step of every weight in a row, by an optimizer."""
    bound = {"step": optimizer.step, "rests": optimizer.rests}
    return rebind(backprop.update_row, "update_row", bound)
